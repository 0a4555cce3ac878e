#include "io/safetensors.h"

#include "file.h"
#include "intl.h"
#include "io/json_text.h"
#include "io/little.h"
#include "mem.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH_BYTES = 8,
    HEADER_MOST = 100 << 20, /* bytes, as the format has it */
    INDEX_MOST = 64 << 20,
    FILES_MOST = 10000,
};

struct Safetensors {
    SafeTensor *tensor; /* [count] rising names */
    int count, capacity;
    Mapping **mapping; /* [mappings] */
    int mappings, mapping_capacity;
    json_t **header; /* [mappings] whose names and types are borrowed */
    int header_capacity;
};

/* Bytes of a number, for every type of the format. */
static const struct {
    const char *dtype;
    int bytes;
} types[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
             {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};

static int type_bytes(const char *dtype) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].dtype, dtype) == 0) return types[i].bytes;
    return 0;
}

/* --- one tensor --- */

static Status read_shape(const json_t *shape, SafeTensor *t, unsigned long long *numbers) {
    size_t i;
    json_t *n;
    *numbers = 1;
    if (!json_is_array(shape)) return status_usage(_("tensor '%s' has no shape"), t->name);
    if (json_array_size(shape) > SAFETENSORS_DIMS)
        return status_usage(_("tensor '%s' has %zu dimensions; at most %d are read"), t->name, json_array_size(shape),
                            SAFETENSORS_DIMS);
    json_array_foreach(shape, i, n) {
        if (!json_is_integer(n) || json_integer_value(n) < 0)
            return status_usage(_("tensor '%s': its shape is not made of whole numbers from 0 on"), t->name);
        t->dim[t->dims++] = json_integer_value(n);
        if (__builtin_mul_overflow(*numbers, (unsigned long long)json_integer_value(n), numbers))
            return status_usage(_("tensor '%s' promises more numbers than can be counted"), t->name);
    }
    return status_ok();
}

static Status read_offset(const json_t *offsets, size_t i, const SafeTensor *t, size_t most, size_t *out) {
    const json_t *n = json_array_get(offsets, i);
    if (json_array_size(offsets) != 2 || !json_is_integer(n))
        return status_usage(_("tensor '%s' does not say where it begins and ends"), t->name);
    long long at = json_integer_value(n);
    if (at < 0 || (unsigned long long)at > most)
        return status_usage(_("tensor '%s' reaches to byte %lld; the file has only %zu bytes of numbers"), t->name, at,
                            most);
    *out = (size_t)at;
    return status_ok();
}

/* The N bytes at DATA are the numbers of all. */
static Status read_tensor(const char *name, const json_t *entry, const unsigned char *data, size_t n, SafeTensor *t) {
    unsigned long long numbers, bytes;
    size_t begin, end;
    *t = (SafeTensor){.name = name};
    if (!json_is_object(entry)) return status_usage(_("tensor '%s' is not described"), name);
    t->dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!t->dtype || type_bytes(t->dtype) == 0)
        return status_usage(_("tensor '%s' has the type '%s', which is not known"), name, t->dtype ? t->dtype : "");
    STATUS_TRY(read_shape(json_object_get(entry, "shape"), t, &numbers));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    STATUS_TRY(read_offset(offsets, 0, t, n, &begin));
    STATUS_TRY(read_offset(offsets, 1, t, n, &end));
    if (end < begin) return status_usage(_("tensor '%s' ends (%zu) before it begins (%zu)"), name, end, begin);
    if (__builtin_mul_overflow(numbers, (unsigned long long)type_bytes(t->dtype), &bytes) || bytes != end - begin)
        return status_usage(_("tensor '%s' has %zu bytes, which is not what its shape and type ask for"), name,
                            end - begin);
    t->data = data + begin;
    t->bytes = end - begin;
    return status_ok();
}

/* --- one file --- */

static int by_place(const void *a, const void *b) {
    const SafeTensor *x = a, *y = b;
    if (x->data != y->data) return x->data < y->data ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const SafeTensor *)a)->name, ((const SafeTensor *)b)->name);
}

/* Every byte belongs to one tensor. Sorts the tensors by place. */
static Status check_places(SafeTensor *t, int count, const unsigned char *data, size_t n) {
    const unsigned char *at = data;
    if (count) qsort(t, (size_t)count, sizeof *t, by_place);
    for (int i = 0; i < count; i++) {
        if (t[i].data < at) return status_usage(_("tensor '%s' lies over '%s'"), t[i].name, t[i - 1].name);
        if (t[i].data > at)
            return status_usage(_("%zu bytes before tensor '%s' belong to none"), (size_t)(t[i].data - at), t[i].name);
        at = t[i].data + t[i].bytes;
    }
    if (at < data + n) return status_usage(_("%zu bytes at its end belong to no tensor"), (size_t)(data + n - at));
    return status_ok();
}

static Status read_header(const unsigned char *data, size_t bytes, json_t **header, size_t *begin) {
    *header = NULL;
    if (bytes < LENGTH_BYTES) return status_usage(_("it has %zu bytes, less than the length of a header"), bytes);
    uint64_t n = little_get(data, LENGTH_BYTES);
    if (n > bytes - LENGTH_BYTES || n > HEADER_MOST)
        return status_usage(_("its header would have %llu bytes, the file has %zu"), (unsigned long long)n, bytes);
    *begin = LENGTH_BYTES + (size_t)n;
    return json_text_parse((const char *)data + LENGTH_BYTES, (size_t)n, header);
}

static Status add_tensors(Safetensors *s, json_t *header, const unsigned char *data, size_t n) {
    const char *name;
    json_t *entry;
    int first = s->count;
    json_object_foreach(header, name, entry) {
        if (strcmp(name, "__metadata__") == 0) continue;
        MEM_GROW(s->tensor, s->count, s->capacity);
        STATUS_TRY(read_tensor(name, entry, data, n, &s->tensor[s->count]));
        s->count++;
    }
    return check_places(s->tensor ? s->tensor + first : NULL, s->count - first, data, n);
}

/* MAPPING is closed or becomes S's. */
static Status add_file(Safetensors *s, Mapping *mapping) {
    json_t *header = NULL;
    size_t begin = 0;
    Status status = read_header(mapping_data(mapping), mapping_bytes(mapping), &header, &begin);
    if (!status_is_ok(&status)) {
        mapping_close(mapping);
        return status;
    }
    MEM_GROW(s->mapping, s->mappings, s->mapping_capacity);
    MEM_GROW(s->header, s->mappings, s->header_capacity);
    s->mapping[s->mappings] = mapping;
    s->header[s->mappings++] = header;
    return add_tensors(s, header, mapping_data(mapping) + begin, mapping_bytes(mapping) - begin);
}

static Status not_readable(const char *name, const Status *why) {
    return status_usage(_("'%s' is no safetensors file that can be read: %s"), name, why->text);
}

/* Names in order; one that is in two files is refused. */
static Status sort_names(Safetensors *s) {
    if (s->count) qsort(s->tensor, (size_t)s->count, sizeof *s->tensor, by_name);
    for (int i = 1; i < s->count; i++)
        if (strcmp(s->tensor[i - 1].name, s->tensor[i].name) == 0)
            return status_usage(_("tensor '%s' is there twice"), s->tensor[i].name);
    return status_ok();
}

static Status finish(const char *name, Safetensors *s, Status status, Safetensors **out) {
    *out = NULL;
    if (status_is_ok(&status)) status = sort_names(s);
    if (status_is_ok(&status)) {
        *out = s;
        return status;
    }
    safetensors_close(s);
    return not_readable(name, &status);
}

Status safetensors_parse(const char *name, Mapping *mapping, Safetensors **out) {
    Safetensors *s = MEM_NEW(Safetensors);
    return finish(name, s, add_file(s, mapping), out);
}

/* --- an index of files --- */

static int file_by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The different files of the map, borrowed from it; *file is allocated. */
static Status list_files(json_t *map, const char ***file, int *files) {
    const char *name;
    json_t *value;
    int n = 0;
    *files = 0;
    *file = MEM_ARRAY(const char *, json_object_size(map) + 1);
    json_object_foreach(map, name, value) {
        const char *f = json_string_value(value);
        if (!f || !*f || strchr(f, '/')) return status_usage(_("the file of tensor '%s' has no name"), name);
        (*file)[n++] = f;
    }
    if (n) qsort(*file, (size_t)n, sizeof **file, file_by_name);
    for (int i = 0; i < n; i++)
        if (i == 0 || strcmp((*file)[i], (*file)[*files - 1]) != 0) (*file)[(*files)++] = (*file)[i];
    if (*files > FILES_MOST) return status_usage(_("it names %d files; at most %d are read"), *files, FILES_MOST);
    return status_ok();
}

static Status add_beside(Safetensors *s, const char *index, const char *file) {
    const char *slash = strrchr(index, '/');
    Mapping *mapping;
    Str path;
    str_init(&path);
    if (slash) str_add_n(&path, index, (size_t)(slash - index) + 1);
    str_add(&path, file);
    Status status = mapping_open(path.s, &mapping);
    if (status_is_ok(&status)) {
        status = add_file(s, mapping);
        if (!status_is_ok(&status)) status = not_readable(file, &status);
    }
    str_done(&path);
    return status;
}

/* Whether every tensor of the map is in one of the files. */
static Status check_map(const Safetensors *s, json_t *map) {
    const char *name;
    json_t *value;
    json_object_foreach(map, name, value) {
        bool found = false;
        for (int i = 0; i < s->count && !found; i++) found = strcmp(s->tensor[i].name, name) == 0;
        if (!found) return status_usage(_("tensor '%s' is not in '%s'"), name, json_string_value(value));
    }
    return status_ok();
}

static Status add_index(Safetensors *s, const char *path, const Str *text) {
    json_t *root = NULL;
    const char **file = NULL;
    int files = 0;
    STATUS_TRY(json_text_parse(text->s, text->len, &root));
    json_t *map = json_object_get(root, "weight_map");
    Status status = json_is_object(map) ? list_files(map, &file, &files) : status_usage(_("it has no weight_map"));
    for (int i = 0; i < files && status_is_ok(&status); i++) status = add_beside(s, path, file[i]);
    if (status_is_ok(&status)) status = check_map(s, map);
    mem_free(file);
    json_decref(root);
    return status;
}

Status safetensors_open(const char *path, Safetensors **out) {
    Mapping *mapping;
    *out = NULL;
    if (!str_ends_in(path, ".json")) {
        STATUS_TRY(mapping_open(path, &mapping));
        return safetensors_parse(path, mapping, out);
    }
    Str text;
    str_init(&text);
    Status status = file_read(path, INDEX_MOST, &text);
    if (status_is_ok(&status)) {
        Safetensors *s = MEM_NEW(Safetensors);
        status = finish(path, s, add_index(s, path, &text), out);
    }
    str_done(&text);
    return status;
}

void safetensors_close(Safetensors *s) {
    if (!s) return;
    for (int i = 0; i < s->mappings; i++) {
        mapping_close(s->mapping[i]);
        json_decref(s->header[i]);
    }
    mem_free(s->mapping);
    mem_free(s->header);
    mem_free(s->tensor);
    mem_free(s);
}

int safetensors_count(const Safetensors *s) {
    return s->count;
}

const SafeTensor *safetensors_at(const Safetensors *s, int i) {
    return &s->tensor[i];
}

const SafeTensor *safetensors_find(const Safetensors *s, const char *name) {
    SafeTensor key = {.name = name};
    return s->count ? bsearch(&key, s->tensor, (size_t)s->count, sizeof key, by_name) : NULL;
}

int safetensors_release(Safetensors *s, Mapping ***mapping) {
    int n = s->mappings;
    *mapping = s->mapping;
    s->mapping = NULL;
    for (int i = 0; i < n; i++) json_decref(s->header[i]);
    s->mappings = 0;
    safetensors_close(s);
    return n;
}
