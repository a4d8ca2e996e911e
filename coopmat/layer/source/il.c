/* Facts about a SPIR-V module: whether it has matrices, and the sizes of its specialisation constants. The
 * application's module may be invalid: no word outside of it is read. */
#define _GNU_SOURCE
#include "layer.h"

#include <string.h>

enum { MAGIC = 0x07230203, HEADER = 5 };
enum { OP_CAPABILITY = 17, OP_TYPE_INT = 21, OP_TYPE_FLOAT = 22, OP_DECORATE = 71 };
enum { OP_SPEC_CONSTANT_TRUE = 48, OP_SPEC_CONSTANT_FALSE = 49, OP_SPEC_CONSTANT = 50, SPEC_ID = 1 };

typedef struct {
    const unsigned char *words;
    size_t at, count; /* in words: the offset of the instruction; its length, including its first word */
    unsigned opcode;
} instruction;

static uint32_t word(const instruction *i, size_t number)
{
    uint32_t result;
    memcpy(&result, i->words + 4 * (i->at + number), sizeof result);
    return result;
}

/* Advances to the next instruction, or to the first one if `count` is 0. Returns false at the end, and at an
 * instruction whose length is invalid. */
static bool next_instruction(instruction *i, size_t size)
{
    i->at = i->count ? i->at + i->count : HEADER;
    if (i->at >= size / 4)
        return false;
    i->count = word(i, 0) >> 16;
    i->opcode = word(i, 0) & 0xffff;
    return i->count && i->count <= size / 4 - i->at;
}

static bool is_module(const void *il, size_t size)
{
    uint32_t first = 0;
    if (size >= 4 * HEADER)
        memcpy(&first, il, sizeof first);
    return first == MAGIC;
}

bool il_has_matrices(const void *il, size_t size)
{
    instruction i = { .words = il };
    while (is_module(il, size) && next_instruction(&i, size) && i.opcode == OP_CAPABILITY)
        if (i.count > 1 && word(&i, 1) == COOPERATIVE_MATRIX_KHR)
            return true;
    return false;
}

/* Returns the size of a numeric type in bytes; 0 for other types, and for types of more than LARGEST_CONSTANT bytes. */
static size_t size_of_type(const void *il, size_t size, uint32_t id)
{
    instruction i = { .words = il };
    while (next_instruction(&i, size))
        if ((i.opcode == OP_TYPE_INT || i.opcode == OP_TYPE_FLOAT) && i.count > 2 && word(&i, 1) == id)
            return word(&i, 2) <= 8 * LARGEST_CONSTANT ? word(&i, 2) / 8 : 0;
    return 0;
}

size_t il_constant_size(const void *il, size_t size, cl_uint number)
{
    instruction i = { .words = il };
    uint32_t id = 0;
    while (next_instruction(&i, size)) {
        if (i.opcode == OP_DECORATE && i.count > 3 && word(&i, 2) == SPEC_ID && word(&i, 3) == number)
            id = word(&i, 1);
        if (id && i.count > 2 && word(&i, 2) == id) {
            if (i.opcode == OP_SPEC_CONSTANT_TRUE || i.opcode == OP_SPEC_CONSTANT_FALSE)
                return 1;
            if (i.opcode == OP_SPEC_CONSTANT)
                return size_of_type(il, size, word(&i, 1));
        }
    }
    return 0;
}
