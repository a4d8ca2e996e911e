# find_package(coopmat) defines a function that compiles OpenCL C with cooperative matrices when a target is built:
#
#   coopmat_compile(TARGET SOURCES FILE... [OPTIONS OPTION...] [EMIT header|spv|c])
#
# TARGET: an executable or a library; its sources can include FILE.h, the compiled FILE.cl. If there is no such target, a
#     target of this name is made, which is built by default.
# OPTIONS: options of `coopmat compile`.
# EMIT: what is written: C headers (FILE.h, the default), SPIR-V (FILE.spv), or plain OpenCL C (FILE.lowered.cl).
#
# A file is compiled again if its source, an included file, or coopmat has changed. The target's property COOPMAT_OUTPUTS
# has the paths of what is written. The variable COOPMAT_EXECUTABLE is the program coopmat.

if(CMAKE_VERSION VERSION_LESS 3.20)
    set(coopmat_FOUND FALSE)
    set(coopmat_NOT_FOUND_MESSAGE "coopmat needs CMake 3.20 or newer.")
    return()
endif()

# Names in dependency files are relative to the directory of the call.
cmake_policy(SET CMP0116 NEW)

find_program(COOPMAT_EXECUTABLE coopmat
    HINTS # from PREFIX/share/cmake/coopmat, and from the package in a Python environment
        "${CMAKE_CURRENT_LIST_DIR}/../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../Scripts"
        "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../../Scripts"
    DOC "The compiler of OpenCL C with cooperative matrices")
if(NOT COOPMAT_EXECUTABLE)
    set(coopmat_FOUND FALSE)
    set(coopmat_NOT_FOUND_MESSAGE
        "The program coopmat was not found: enter its Python environment, or set COOPMAT_EXECUTABLE to its path.")
    return()
endif()
set(coopmat_FOUND TRUE)

function(coopmat_compile target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EMIT" "SOURCES;OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "coopmat_compile: unknown arguments ${arg_UNPARSED_ARGUMENTS} (allowed: SOURCES, OPTIONS, EMIT)")
    endif()
    if(NOT arg_SOURCES)
        message(FATAL_ERROR "coopmat_compile: SOURCES names no file")
    endif()
    if(NOT arg_EMIT)
        set(arg_EMIT header)
    endif()
    set(suffix_header .h)
    set(suffix_spv .spv)
    set(suffix_c .lowered.cl)
    if(NOT DEFINED suffix_${arg_EMIT})
        message(FATAL_ERROR "coopmat_compile: unknown kind ${arg_EMIT} for EMIT (allowed: header, spv, c)")
    endif()

    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.coopmat")
    file(MAKE_DIRECTORY "${folder}")
    set(outputs "")
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(path "${source}" ABSOLUTE)
        get_filename_component(name "${source}" NAME_WE)
        set(output "${folder}/${name}${suffix_${arg_EMIT}}")
        if(output IN_LIST outputs)
            message(FATAL_ERROR "coopmat_compile: several sources of ${target} are named ${name}")
        endif()
        list(APPEND outputs "${output}")
        add_custom_command(
            OUTPUT "${output}"
            COMMAND "${COOPMAT_EXECUTABLE}" compile ${arg_OPTIONS} --emit ${arg_EMIT}
                -MD -MF "${output}.d" -MT "${output}" -o "${output}" "${path}"
            DEPENDS "${path}" "${COOPMAT_EXECUTABLE}"
            DEPFILE "${output}.d"
            WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
            COMMENT "Compiling ${source} by coopmat"
            VERBATIM)
    endforeach()

    if(TARGET ${target})
        target_sources(${target} PRIVATE ${outputs})
        target_include_directories(${target} PRIVATE "${folder}")
    else()
        add_custom_target(${target} ALL DEPENDS ${outputs})
    endif()
    set_property(TARGET ${target} APPEND PROPERTY COOPMAT_OUTPUTS ${outputs})
endfunction()
