#include "colour_pairs.h"

#include "mem.h"

#include <stddef.h>

enum { ROOM_FIRST = 1024 };

static size_t hash(int32_t fg, int32_t bg) {
    uint64_t x = (uint64_t)(uint32_t)fg * 0x9E3779B97F4A7C15u + (uint64_t)(uint32_t)bg * 0xC2B2AE3D27D4EB4Fu;
    return (size_t)(x >> 20);
}

static PairSlot *slot_of(const ColourPairs *p, int32_t fg, int32_t bg) {
    size_t mask = (size_t)p->room - 1, i = hash(fg, bg) & mask;
    while (p->slot[i].pair != 0 && (p->slot[i].fg != fg || p->slot[i].bg != bg)) i = (i + 1) & mask;
    return &p->slot[i];
}

static void grow(ColourPairs *p) {
    ColourPairs before = *p;
    p->room = before.room > 0 ? before.room * 2 : ROOM_FIRST;
    p->slot = MEM_ARRAY(PairSlot, (size_t)p->room);
    for (int i = 0; i < before.room; i++)
        if (before.slot[i].pair != 0) *slot_of(p, before.slot[i].fg, before.slot[i].bg) = before.slot[i];
    mem_free(before.slot);
}

void colour_pairs_done(ColourPairs *p) {
    mem_free(p->slot);
    *p = (ColourPairs){0};
}

int colour_pairs_find(const ColourPairs *p, int32_t fg, int32_t bg) {
    return p->room > 0 ? slot_of(p, fg, bg)->pair : 0;
}

int colour_pairs_add(ColourPairs *p, int32_t fg, int32_t bg) {
    if (2 * (p->count + 1) > p->room) grow(p);
    *slot_of(p, fg, bg) = (PairSlot){fg, bg, ++p->count};
    return p->count;
}
