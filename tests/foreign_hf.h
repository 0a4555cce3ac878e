/* foreign_hf: files of the Hugging Face layout, written by hand. */
#ifndef TESTS_FOREIGN_HF_H
#define TESTS_FOREIGN_HF_H

#include "foreign.h"

/* A safetensors file while it grows. */
typedef struct {
    Str header, data;
} ForeignTensors;

static inline void foreign_tensors_init(ForeignTensors *t) {
    str_init(&t->header);
    str_init(&t->data);
    str_add(&t->header, "{\"__metadata__\":{\"format\":\"pt\"}");
}

static inline void foreign_tensors_done(ForeignTensors *t) {
    str_done(&t->header);
    str_done(&t->data);
}

/* COLS 0: a vector. The numbers since BEGIN are the tensor's. */
static inline void foreign_name_tensor(ForeignTensors *t, const char *name, const char *dtype, int rows, int cols,
                                       size_t begin) {
    str_addf(&t->header, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%d", name, dtype, rows);
    if (cols) str_addf(&t->header, ",%d", cols);
    str_addf(&t->header, "],\"data_offsets\":[%zu,%zu]}", begin, t->data.len);
}

static inline void foreign_add_short(Str *out, unsigned x) {
    str_add_char(out, (char)x);
    str_add_char(out, (char)(x >> 8));
}

/* Slice NAME of M as a tensor FILE_NAME of type F32 or BF16 (whose numbers must have no more digits), TURNED to [in x
 * out]. */
static inline void foreign_tensor(ForeignTensors *t, const Model *m, const char *name, const char *file_name,
                                  bool turned, bool brief) {
    const Params *p = model_read_params(m);
    int slice = params_find(p, name);
    const Slice *s = &p->slice[slice];
    size_t begin = t->data.len;
    int rows = turned ? s->cols : s->rows, cols = turned ? s->rows : s->cols;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            float x = (float)(turned ? params_number(p, slice, c, r) : params_number(p, slice, r, c));
            uint32_t bits;
            memcpy(&bits, &x, sizeof bits);
            if (brief)
                foreign_add_short(&t->data, bits >> 16);
            else
                foreign_add_word(&t->data, bits);
        }
    bool vector = s->rows == 1 && strstr(name, ".weight") == NULL;
    foreign_name_tensor(t, file_name, brief ? "BF16" : "F32", vector ? cols : rows, vector ? 0 : cols, begin);
}

static inline void foreign_layer_tensor(ForeignTensors *t, const Model *m, int layer, const char *name,
                                        const char *file_format, bool turned, bool brief) {
    char full[120], file_name[120];
    (void)snprintf(full, sizeof full, "block%d.%s", layer, name);
    (void)snprintf(file_name, sizeof file_name, file_format, layer);
    foreign_tensor(t, m, full, file_name, turned, brief);
}

/* The file; PADDING blanks end the header. */
static inline void foreign_tensors_file(const ForeignTensors *t, int padding, Str *out) {
    size_t n = t->header.len + 1 + (size_t)padding;
    for (int i = 0; i < 8; i++) str_add_char(out, (char)((uint64_t)n >> 8 * i));
    str_add_n(out, t->header.s, t->header.len);
    str_add_char(out, '}');
    str_add_repeat(out, ' ', (size_t)padding);
    str_add_n(out, t->data.s, t->data.len);
}

#endif
