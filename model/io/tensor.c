#include "io/tensor.h"

#include "fpformat.h"
#include "intl.h"
#include "io/little.h"
#include "mem.h"

#include <stdint.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} kinds[TENSOR_KINDS] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}};

size_t tensor_bytes(TensorKind k) {
    return kinds[k].bytes;
}

const char *tensor_name(TensorKind k) {
    return kinds[k].name;
}

/* --- lines of a source --- */

static int lines_of(const TensorSource *t, const Slice *s) {
    return t->turned ? s->cols : s->rows;
}

static int line_numbers(const TensorSource *t, const Slice *s) {
    return t->turned ? s->rows : s->cols;
}

static const unsigned char *line_at(const TensorSource *t, int line) {
    return t->data + (size_t)line * (size_t)t->ld * tensor_bytes(t->kind);
}

/* --- numbers that are none: all bits of the exponent are set --- */

static bool is_finite_32(const unsigned char *p, int n) {
    uint32_t bad = 0;
    for (int i = 0; i < n; i++) {
        uint32_t bits = little_word(p + 4 * (size_t)i);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

static bool is_finite_16(const unsigned char *p, int n, unsigned exponent) {
    unsigned bad = 0;
    for (int i = 0; i < n; i++) {
        unsigned bits = little_half(p + 2 * (size_t)i);
        bad |= (bits & exponent) == exponent;
    }
    return !bad;
}

static bool is_finite_line(const TensorSource *t, int line, int n) {
    const unsigned char *p = line_at(t, line);
    if (t->kind == TENSOR_F32) return is_finite_32(p, n);
    return is_finite_16(p, n, t->kind == TENSOR_F16 ? 0x7c00 : 0x7f80);
}

static Status check_finite(const TensorSource *t, const Slice *s) {
    for (int line = 0; line < lines_of(t, s); line++)
        if (!is_finite_line(t, line, line_numbers(t, s)))
            return status_usage(_("%s has a number that is not finite, in row %d"), t->name, line);
    return status_ok();
}

/* --- into the engine's type --- */

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float number_at(TensorKind kind, const unsigned char *p) {
    if (kind == TENSOR_F32) return from_bits(little_word(p));
    uint16_t half = little_half(p);
    return kind == TENSOR_F16 ? (float)fpformat_from_bits(FP16, half) : from_bits((uint32_t)half << 16);
}

static void convert_line(const TensorSource *t, int line, int n, real *to) {
    const unsigned char *p = line_at(t, line);
    for (int i = 0; i < n; i++, p += tensor_bytes(t->kind)) to[i] = (real)number_at(t->kind, p);
}

/* Where output OUT of the slice stands in the file. */
static int place_in_file(const TensorSource *t, int out) {
    int n = t->interleaved, head = n ? out / n * n : 0, i = out - head;
    return n ? head + i % 2 * (n / 2) + i / 2 : out;
}

/* A vector whose numbers stand elsewhere. */
static void convert_interleaved(const TensorSource *t, int n, real *to) {
    for (int i = 0; i < n; i++)
        to[i] = (real)number_at(t->kind, t->data + (size_t)place_in_file(t, i) * tensor_bytes(t->kind));
}

/* The slice row by row, whatever way it lies. */
static void convert_slice(const TensorSource *t, const Slice *s, real *to) {
    if (t->interleaved && s->rows == 1) {
        convert_interleaved(t, s->cols, to);
        return;
    }
    for (int r = 0; !t->turned && r < s->rows; r++)
        convert_line(t, place_in_file(t, r), s->cols, to + (size_t)r * (size_t)s->cols);
    if (!t->turned) return;
    real *column = MEM_ARRAY(real, (size_t)s->rows);
    for (int c = 0; c < s->cols; c++) {
        convert_line(t, c, s->rows, column);
        for (int r = 0; r < s->rows; r++) to[(size_t)r * (size_t)s->cols + (size_t)c] = column[r];
    }
    mem_free(column);
}

/* --- two ways of having them --- */

typedef struct {
    Mapping **mapping;
    int mappings;
    real **own; /* [slices] what had to be converted; NULL elsewhere */
    int slices;
} Held;

static void release(void *user) {
    Held *h = user;
    for (int i = 0; i < h->mappings; i++) mapping_close(h->mapping[i]);
    for (int i = 0; i < h->slices; i++) mem_free(h->own[i]);
    mem_free(h->mapping);
    mem_free(h->own);
    mem_free(h);
}

static void copy_all(Params *p, const TensorSource *source) {
    params_seal(p);
    for (int i = 0; i < p->slices; i++) convert_slice(&source[i], &p->slice[i], p->x + p->slice[i].at);
}

/* Whether the file's numbers can be used where they are. */
static bool is_native(const TensorSource *t) {
    return little_is_native() && !REAL_IS_DOUBLE && t->kind == TENSOR_F32 && !t->interleaved &&
           (uintptr_t)t->data % sizeof(real) == 0;
}

/* Lines stay lines: what is turned in the file stays turned. */
static View converted(const TensorSource *t, const Slice *s, real **own) {
    int lines = lines_of(t, s), n = line_numbers(t, s);
    *own = mem_aligned(slice_count(s), sizeof **own);
    if (t->interleaved) {
        convert_slice(t, s, *own);
        return (View){.x = *own, .ld = s->cols};
    }
    for (int line = 0; line < lines; line++) convert_line(t, line, n, *own + (size_t)line * (size_t)n);
    return (View){.x = *own, .ld = n, .turned = t->turned};
}

static void forget(void *owner) {
    const Held *h = owner;
    for (int i = 0; i < h->mappings; i++) mapping_forget(h->mapping[i]);
}

static void lend_all(Params *p, const TensorSource *source, Mapping **mapping, int n) {
    Held *h = MEM_NEW(Held);
    View *view = MEM_ARRAY(View, (size_t)p->slices);
    *h = (Held){.mapping = MEM_ARRAY(Mapping *, (size_t)n), .mappings = n, .slices = p->slices};
    h->own = MEM_ARRAY(real *, (size_t)p->slices);
    for (int i = 0; i < n; i++) h->mapping[i] = mapping[i];
    bool copied = false;
    for (int i = 0; i < p->slices; i++) {
        const TensorSource *t = &source[i];
        bool native = is_native(t);
        copied = copied || !native;
        view[i] = native ? (View){(const real *)(const void *)t->data, t->ld, t->turned}
                         : converted(t, &p->slice[i], &h->own[i]);
    }
    for (int i = 0; copied && i < n; i++) mapping_forget(mapping[i]);
    params_lend(p, view, h, release);
    p->forget = forget;
}

Status tensors_adopt(const char *file, Model *m, const TensorSource *source, TensorUse use, Mapping **mapping, int n) {
    Params *p = model_params(m);
    Status s = status_ok();
    for (int i = 0; i < p->slices && status_is_ok(&s); i++) s = check_finite(&source[i], &p->slice[i]);
    bool lent = use == TENSORS_LENT || (use == TENSORS_BY_SIZE && p->count > TENSORS_COPIED_MOST);
    if (status_is_ok(&s) && lent) {
        lend_all(p, source, mapping, n);
        return s;
    }
    if (status_is_ok(&s)) copy_all(p, source);
    for (int i = 0; i < n; i++) mapping_close(mapping[i]);
    return status_is_ok(&s) ? s : status_usage("'%s': %s", file, s.text);
}
