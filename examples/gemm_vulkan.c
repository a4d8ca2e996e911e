/* C = A B by cooperative matrices, written in OpenCL C and run by Vulkan: A and B of half, C of float.
 *
 *   coopmat compile gemm_vulkan.cl -DTILE=16 --target-env vulkan1.3 --emit header -o gemm_vulkan.h
 *   cc -DTILE=16 gemm_vulkan.c -o gemm_vulkan -lvulkan
 *   gemm_vulkan [DEVICE]    on the first device that has what the module needs, with DEVICE in its name
 *
 * For a device without matrices, add `--matrices lanes --sub-group-size N` and -DLANES=1. */
#include <vulkan/vulkan.h>

#include "gemm_vulkan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LANES
#define LANES 0
#endif
#define TYPE(NAME) .sType = VK_STRUCTURE_TYPE_##NAME
/* The subgroup size that the module is compiled for; 0: for any. */
static const uint32_t made_for = gemm_vulkan_gemm_sub_group_size;
/* All three matrices are in one buffer. */
enum { M = 4 * TILE, N = 6 * TILE, K = 5 * TILE, AT_B = 2 * M * K, AT_C = AT_B + 2 * K * N };

/* The kernel's arguments, as `--emit launch` lists them: buffers by address, numbers as they are. */
struct arguments {
    VkDeviceAddress a, b, c;
    uint32_t n, k;
};

struct buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    void *data;
};

static void check(VkResult result, const char *what)
{
    if (result) {
        fprintf(stderr, "%s: VkResult %d\n", what, (int)result);
        exit(1);
    }
}

/* What the module needs. Vulkan 1.3 has the structures of 1.1 to 1.3; the last is an extension's. */
static VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices = {TYPE(PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR)};
static VkPhysicalDeviceVulkan13Features v13 = {TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES)};
static VkPhysicalDeviceVulkan12Features v12 = {TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)};
static VkPhysicalDeviceVulkan11Features v11 = {TYPE(PHYSICAL_DEVICE_VULKAN_1_1_FEATURES)};
static VkPhysicalDeviceSubgroupSizeControlProperties sizes = {TYPE(PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)};
static VkPhysicalDeviceSubgroupProperties subgroups = {TYPE(PHYSICAL_DEVICE_SUBGROUP_PROPERTIES), .pNext = &sizes};
static VkPhysicalDeviceFeatures2 features = {TYPE(PHYSICAL_DEVICE_FEATURES_2)};

/* Whether a device multiplies TILE x TILE matrices of half, with sums of float, in a subgroup. */
static int has_product(VkInstance instance, VkPhysicalDevice device)
{
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR query =
        (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)vkGetInstanceProcAddr(
            instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    VkCooperativeMatrixPropertiesKHR rows[64], *row = rows;
    uint32_t count = 64;
    for (int i = 0; i < 64; i++)
        rows[i] = (VkCooperativeMatrixPropertiesKHR){TYPE(COOPERATIVE_MATRIX_PROPERTIES_KHR)};
    if (!query || query(device, &count, rows) < 0)
        return 0;
    for (; count--; row++)
        if (row->MSize == TILE && row->NSize == TILE && row->KSize == TILE && row->scope == VK_SCOPE_SUBGROUP_KHR &&
            row->AType == VK_COMPONENT_TYPE_FLOAT16_KHR && row->BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
            row->CType == VK_COMPONENT_TYPE_FLOAT32_KHR && row->ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR)
            return 1;
    return 0;
}

/* Ask a device for its features; return the first that it lacks, or NULL. */
static const char *missing_feature(VkInstance instance, VkPhysicalDevice device)
{
    v13.pNext = LANES ? NULL : &matrices;
    v12.pNext = &v13;
    v11.pNext = &v12;
    features.pNext = &v11;
    vkGetPhysicalDeviceFeatures2(device, &features);
    if (!LANES && (!matrices.cooperativeMatrix || !has_product(instance, device)))
        return "cooperative matrices of this size";
    return !v11.storageBuffer16BitAccess     ? "storageBuffer16BitAccess"
           : !v12.shaderFloat16              ? "shaderFloat16"
           : !v12.bufferDeviceAddress        ? "bufferDeviceAddress"
           : !v12.vulkanMemoryModel          ? "vulkanMemoryModel"
           : !features.features.shaderInt64  ? "shaderInt64"
           : !v13.maintenance4               ? "maintenance4"
           : !v13.computeFullSubgroups       ? "computeFullSubgroups"
           : made_for && (made_for < sizes.minSubgroupSize || made_for > sizes.maxSubgroupSize) ? "this subgroup size"
                                             : NULL;
}

static VkPhysicalDevice find_device(VkInstance instance, const char *wanted)
{
    uint32_t count = 16;
    VkPhysicalDevice devices[16];
    check(vkEnumeratePhysicalDevices(instance, &count, devices), "vkEnumeratePhysicalDevices");
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties2 both = {TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &subgroups};
        const VkPhysicalDeviceProperties has = (vkGetPhysicalDeviceProperties2(devices[i], &both), both.properties);
        const int is_new = has.apiVersion >= VK_API_VERSION_1_3;
        const char *missing = is_new ? missing_feature(instance, devices[i]) : "Vulkan 1.3";
        printf("%s %s%s\n", has.deviceName, missing ? "lacks " : "has all that is needed", missing ? missing : "");
        if (!missing && strstr(has.deviceName, wanted))
            return devices[i];
    }
    fprintf(stderr, "no Vulkan device has what the module needs\n");
    exit(2);
}

static VkDevice new_device(VkPhysicalDevice chosen)
{
    const float priority = 1;
    const char *const names[] = {VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME};
    VkDeviceQueueCreateInfo queue = {TYPE(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1, .pQueuePriorities = &priority};
    /* All features that the device has are switched on. */
    VkDeviceCreateInfo info = {
        TYPE(DEVICE_CREATE_INFO), .pNext = &features, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
        .enabledExtensionCount = LANES ? 0 : 1, .ppEnabledExtensionNames = names};
    VkDevice device;
    check(vkCreateDevice(chosen, &info, NULL, &device), "vkCreateDevice");
    return device;
}

static struct buffer new_buffer(VkPhysicalDevice chosen, VkDevice device, size_t size)
{
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    struct buffer result;
    VkBufferCreateInfo info = {
        TYPE(BUFFER_CREATE_INFO), .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateFlagsInfo flags = {
        TYPE(MEMORY_ALLOCATE_FLAGS_INFO), .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {TYPE(MEMORY_ALLOCATE_INFO), .pNext = &flags};
    VkBufferDeviceAddressInfo address = {TYPE(BUFFER_DEVICE_ADDRESS_INFO)};
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties has;
    check(vkCreateBuffer(device, &info, NULL, &result.handle), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(device, result.handle, &needs);
    vkGetPhysicalDeviceMemoryProperties(chosen, &has);
    while (memory.memoryTypeIndex < has.memoryTypeCount &&
           (!(needs.memoryTypeBits >> memory.memoryTypeIndex & 1) ||
            (has.memoryTypes[memory.memoryTypeIndex].propertyFlags & wanted) != wanted))
        memory.memoryTypeIndex++;
    memory.allocationSize = needs.size;
    check(vkAllocateMemory(device, &memory, NULL, &result.memory), "vkAllocateMemory");
    check(vkBindBufferMemory(device, result.handle, result.memory, 0), "vkBindBufferMemory");
    check(vkMapMemory(device, result.memory, 0, size, 0, &result.data), "vkMapMemory");
    address.buffer = result.handle;
    result.address = vkGetBufferDeviceAddress(device, &address);
    return result;
}

static VkPipeline new_pipeline(VkDevice device, VkPipelineLayout layout)
{
    /* The constants 0, 1 and 2 are the work-group's size: one subgroup. */
    const uint32_t size[] = {made_for ? made_for : subgroups.subgroupSize, 1, 1};
    static const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
    VkSpecializationInfo constants = {3, entries, sizeof size, size};
    uint32_t *words = memcpy(malloc(gemm_vulkan_spv_size), gemm_vulkan_spv, gemm_vulkan_spv_size);
    VkShaderModuleCreateInfo code = {TYPE(SHADER_MODULE_CREATE_INFO), .codeSize = gemm_vulkan_spv_size, .pCode = words};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        TYPE(PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO), .requiredSubgroupSize = size[0]};
    VkComputePipelineCreateInfo info = {
        TYPE(COMPUTE_PIPELINE_CREATE_INFO), .layout = layout,
        .stage = {
            TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO), .pNext = &subgroup,
            .flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .pName = "gemm", .pSpecializationInfo = &constants}};
    VkPipeline result;
    check(vkCreateShaderModule(device, &code, NULL, &info.stage.module), "vkCreateShaderModule");
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &result), "vkCreateComputePipelines");
    vkDestroyShaderModule(device, info.stage.module, NULL);
    free(words);
    return result;
}

static void launch(VkDevice device, const struct arguments *arguments)
{
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *arguments};
    VkPipelineLayoutCreateInfo info = {
        TYPE(PIPELINE_LAYOUT_CREATE_INFO), .pushConstantRangeCount = 1, .pPushConstantRanges = &range};
    VkCommandPoolCreateInfo pool_info = {TYPE(COMMAND_POOL_CREATE_INFO)};
    VkCommandBufferAllocateInfo allocate = {TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    VkSubmitInfo submit = {TYPE(SUBMIT_INFO), .commandBufferCount = 1};
    VkMemoryBarrier host_reads = {TYPE(MEMORY_BARRIER), NULL, VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT};
    VkPipelineLayout layout;
    VkCommandBuffer commands;
    VkPipeline pipeline;
    VkQueue queue;
    check(vkCreatePipelineLayout(device, &info, NULL, &layout), "vkCreatePipelineLayout");
    pipeline = new_pipeline(device, layout);
    check(vkCreateCommandPool(device, &pool_info, NULL, &allocate.commandPool), "vkCreateCommandPool");
    check(vkAllocateCommandBuffers(device, &allocate, &commands), "vkAllocateCommandBuffers");
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *arguments, arguments);
    vkCmdDispatch(commands, N / TILE, M / TILE, 1);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                         1, &host_reads, 0, NULL, 0, NULL);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    vkGetDeviceQueue(device, 0, 0, &queue);
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
    vkDestroyCommandPool(device, allocate.commandPool, NULL);
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
}

/* The i-th number of A and B: -1, 0 or 1. */
static int value(size_t i) { return (int)(i * i % 7 % 3) - 1; }

int main(int count, char **words)
{
    static const uint16_t halves[] = {0xbc00, 0, 0x3c00}; /* -1, 0, 1 */
    VkApplicationInfo application = {TYPE(APPLICATION_INFO), .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {TYPE(INSTANCE_CREATE_INFO), .pApplicationInfo = &application};
    VkInstance instance;
    size_t wrong = 0;
    if (vkCreateInstance(&info, NULL, &instance)) {
        fprintf(stderr, "there is no Vulkan driver\n");
        return 2;
    }
    VkPhysicalDevice chosen = find_device(instance, count > 1 ? words[1] : "");
    VkDevice device = new_device(chosen);
    struct buffer buffer = new_buffer(chosen, device, AT_C + M * N * sizeof(float));
    uint16_t *numbers = buffer.data, *end = numbers + M * K + K * N;
    for (size_t i = 0; numbers + i < end; i++)
        numbers[i] = halves[value(i) + 1];
    launch(device, &(struct arguments){buffer.address, buffer.address + AT_B, buffer.address + AT_C, N, K});
    for (size_t row = 0; row < M; row++)
        for (size_t column = 0; column < N; column++) {
            int sum = 0;
            for (size_t i = 0; i < K; i++)
                sum += value(row * K + i) * value(M * K + i * N + column);
            wrong += ((const float *)end)[row * N + column] != (float)sum;
        }
    printf("C of %d x %d: %zu wrong\n", M, N, wrong);
    vkDestroyBuffer(device, buffer.handle, NULL);
    vkFreeMemory(device, buffer.memory, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return wrong != 0;
}
