/* Messages between the layer and its helper: lists of fields, each a name and bytes, so that nothing needs escapes.
 *
 * A field begins with two 32-bit numbers in the machine's byte order, the sizes of its name and of its data in bytes.
 * The name and the data follow. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(message *m, size_t more)
{
    if (m->failed || more > SIZE_MAX / 4 - m->size)
        return !(m->failed = true);
    if (m->size + more > m->room) {
        size_t room = (m->size + more) * 2;
        unsigned char *bytes = realloc(m->bytes, room);
        if (!bytes)
            return !(m->failed = true);
        m->bytes = bytes;
        m->room = room;
    }
    return true;
}

void put(message *m, const char *name, const void *data, size_t size)
{
    uint32_t sizes[2] = { (uint32_t)strlen(name), (uint32_t)size };
    if (size > UINT32_MAX) {
        m->failed = true;
        return;
    }
    if (!reserve(m, sizeof sizes + sizes[0] + size))
        return;
    memcpy(m->bytes + m->size, sizes, sizeof sizes);
    memcpy(m->bytes + m->size + sizeof sizes, name, sizes[0]);
    if (size)
        memcpy(m->bytes + m->size + sizeof sizes + sizes[0], data, size);
    m->size += sizeof sizes + sizes[0] + size;
}

void put_text(message *m, const char *name, const char *text)
{
    put(m, name, text ? text : "", text ? strlen(text) : 0);
}

void put_number(message *m, const char *name, unsigned long long number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", number);
    put_text(m, name, digits);
}

bool next_field(const message *m, size_t *at, field *found)
{
    uint32_t sizes[2];
    if (*at > m->size || m->size - *at < sizeof sizes)
        return false;
    memcpy(sizes, m->bytes + *at, sizeof sizes);
    size_t left = m->size - *at - sizeof sizes;
    if (sizes[0] > left || sizes[1] > left - sizes[0])
        return false;
    found->name = (const char *)m->bytes + *at + sizeof sizes;
    found->name_size = sizes[0];
    found->data = (const unsigned char *)found->name + sizes[0];
    found->size = sizes[1];
    *at += sizeof sizes + sizes[0] + (size_t)sizes[1];
    return true;
}

bool is_well_formed(const message *m)
{
    size_t at = 0;
    field ignored;
    while (at < m->size)
        if (!next_field(m, &at, &ignored))
            return false;
    return true;
}

bool find(const message *m, const char *name, field *found)
{
    size_t at = 0, size = strlen(name);
    while (next_field(m, &at, found))
        if (found->name_size == size && !memcmp(found->name, name, size))
            return true;
    return false;
}

char *text_of(const message *m, const char *name)
{
    field found;
    if (!find(m, name, &found))
        return NULL;
    char *text = malloc(found.size + 1);
    if (text) {
        memcpy(text, found.data, found.size);
        text[found.size] = 0;
    }
    return text;
}

void release_message(message *m)
{
    free(m->bytes);
    memset(m, 0, sizeof *m);
}
