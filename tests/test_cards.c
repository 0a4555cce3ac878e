/* cards: every shipped card counts to what was published, and every fault of a file is named with its line. */
#include "cards.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_study.h"

static char path[] = "/tmp/lantern-test-XXXXXX";

static void write_file(const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static const Card *card_named(const Cards *c, const char *name) {
    const Card *card = NULL;
    Status s = cards_find(c, name, &card);
    if (!status_is_ok(&s)) fail_msg("%s", s.text);
    return card;
}

/* ---- what is shipped ---- */

static void read_shipped(Cards *c) {
    Status s = cards_read(NULL, c);
    if (!status_is_ok(&s)) fail_msg("%s", s.text);
}

static void counts_are_those_published(void **state) {
    (void)state;
    Cards c;
    Str why;
    read_shipped(&c);
    str_init(&why);
    int counted = 0;
    for (int i = 0; i < c.count; i++) {
        const Card *card = &c.card[i];
        assert_true(*card->source != '\0' && card->year >= 2017);
        assert_false(isnan(card->parameters));
        if (card_is_special(card, &why) || strcmp(card->pos, "relative") == 0) continue;
        double billions = (double)account_parameters(&card->config).total / 1e9;
        if (fabs(billions / card->parameters - 1) > .01)
            fail_msg("%s: %.4g billion, published %.4g", card->model, billions, card->parameters);
        counted++;
    }
    assert_true(counted >= 40);
    str_done(&why);
    cards_done(&c);
}

/* To the last parameter where the model is exactly what a configuration describes. */
static void some_counts_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *name;
        long long parameters;
    } known[] = {
        {"gpt1", 116534784},         {"gpt2", 124439808},         {"gpt2-medium", 354823168},
        {"gpt2-large", 774030080},   {"gpt2-xl", 1557611200},     {"llama1-7b", 6738415616},
        {"llama2-7b", 6738415616},   {"llama2-13b", 13015864320}, {"llama2-70b", 68976648192},
        {"llama3-8b", 8030261248},   {"llama3-70b", 70553706496}, {"llama3.1-405b", 405853388800},
        {"llama3.2-1b", 1235814400}, {"llama3.2-3b", 3212749824}, {"mistral-7b", 7241732096},
        {"gemma-2b", 2506172416},    {"gemma-7b", 8537680896},    {"gemma2-9b", 9241705984},
        {"gemma2-27b", 27227128320}, {"qwen3-8b", 8190735360},
    };
    Cards c;
    read_shipped(&c);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        Count counted = account_parameters(&card_named(&c, known[i].name)->config).total;
        if (counted != known[i].parameters) fail_msg("%s: %lld", known[i].name, counted);
    }
    cards_done(&c);
}

static void names_are_forgiving(void **state) {
    (void)state;
    Cards c;
    read_shipped(&c);
    const Card *llama = card_named(&c, "llama3-8b");
    assert_ptr_equal(card_named(&c, "Llama 3 8B"), llama);
    assert_ptr_equal(card_named(&c, "llama-3-8b"), llama);
    assert_ptr_equal(card_named(&c, "gpt2-small"), card_named(&c, "GPT-2"));
    assert_ptr_equal(card_named(&c, "gpt3-175b"), card_named(&c, "gpt3"));
    const Card *card;
    Status s = cards_find(&c, "lama3-8b", &card);
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "did you mean llama3-8b"));
    assert_null(card);
    s = cards_find(&c, "", &card);
    assert_int_equal(s.code, STATUS_USAGE);
    s = cards_find(&c, "---", &card);
    assert_int_equal(s.code, STATUS_USAGE);
    cards_done(&c);
}

static void what_a_configuration_cannot_say(void **state) {
    (void)state;
    Cards c;
    Str why;
    read_shipped(&c);
    str_init(&why);
    const Card *v3 = card_named(&c, "deepseek-v3");
    assert_true(card_is_special(v3, &why));
    assert_string_equal(why.s, "latent attention and 256 experts");
    assert_int_equal(card_cache(v3, 10), 10 * 61 * (512 + 64));
    const Card *t5 = card_named(&c, "t5-11b");
    assert_true(card_is_special(t5, &why));
    assert_string_equal(why.s, "an encoder of 24 layers");
    assert_string_equal(t5->pos, "relative");
    assert_true(t5->config.d_ff == 64 * t5->config.d);
    assert_false(card_is_special(card_named(&c, "gpt2"), &why));
    assert_string_equal(why.s, "");
    str_done(&why);
    cards_done(&c);
}

/* ---- a lecturer's own ---- */

static void a_short_card_is_enough(void **state) {
    (void)state;
    write_file("\xEF\xBB\xBF"
               "d,layers,heads,d_ff,model,vocab,context\r\n\r\n64,2,4,176,\"mine, own\",56,64\r\n");
    Cards c;
    Status s = cards_read(path, &c);
    if (!status_is_ok(&s)) fail_msg("%s", s.text);
    assert_int_equal(c.count, 1);
    const ModelConfig *m = &c.card[0].config;
    assert_string_equal(c.card[0].model, "mine, own");
    assert_int_equal(m->kv_heads, 4);
    assert_int_equal(m->head_dim, 16);
    assert_int_equal(m->norm, NORM_RMS);
    assert_int_equal(m->ffn, FFN_SWIGLU);
    assert_int_equal(c.card[0].year, 0);
    assert_true(isnan(c.card[0].parameters));
    cards_done(&c);
}

static const char header[] = "model,vocab,context,d,layers,heads,d_ff,kv_heads,pos,parameters,experts,experts_used\n";

static const struct {
    const char *head, *rows, *says;
} faults[] = {
    {header, "\na,9,9,8,1,2,3,,,,,\nb,9,9,8,x,2,3,,,,,\n", "line 4: layers must be a whole number"},
    {header, "a,9,9,8,1,3,3,2,,,,\n", "line 2: head_dim is d / heads"},
    {header, "a,9,9,9,1,3,3,2,,,,\n", "line 2: heads (3) must be a multiple of kv_heads (2)"},
    {header, "a,9,9,9,1,3,3,,rope,,,\n", "line 2: head_dim (3) must be even"},
    {header, "a,9,9,8,1,2,3,,sideways,,,\n", "line 2: pos must be one of none, learned, sinusoid, rope"},
    {header, "a,0,9,8,1,2,3,,,,,\n", "line 2: vocab must be a whole number from 1"},
    {header, "a,9,9,8,1,2,-3,,,,,\n", "line 2: d_ff must be"},
    {header, "a,9,9,8,1,2,nan,,,,,\n", "line 2: d_ff must be"},
    {header, "a,9,9,8,1,2,,,,,,\n", "line 2: d_ff is empty"},
    {header, ",9,9,8,1,2,3,,,,,\n", "line 2: model is empty"},
    {header, "a,9,9,8,1,2,3,,,nan,,\n", "line 2: parameters must be a number of billions"},
    {header, "a,9,9,8,1,2,3,,,0,,\n", "line 2: parameters must be a number of billions"},
    {header, "a,9,9,8,1,2,3,,,,2,3\n", "line 2: experts_used (3) is above experts (2)"},
    {header, "a,9,9,8,1,2,3,,,,x,\n", "line 2: experts must be a whole number"},
    {header, "a b,9,9,8,1,2,3,,,,,\nA-B,9,9,8,1,2,3,,,,,\n", "line 3: there is a card 'A-B' already"},
    {header, "-- -,9,9,8,1,2,3,,,,,\n", "line 2: model \"-- -\" has neither letter nor digit"},
    {header, "\xff,9,9,8,1,2,3,,,,,\n", "line 2: the text is not UTF-8"},
    {header, "a,9,9,8,1,2\n", "line 2: 6 cells where the header has 12"},
    {header, "\"a,9\n", "line 2: a quotation mark"},
    {header, "", "has no cards"},
    {"", "", "has no rows"},
    {"model,vocab,context,d,layers,heads\n", "", "line 1: the column 'd_ff' is missing"},
    {"vocab,context,d,layers,heads,d_ff\n", "", "line 1: the column 'model' is missing"},
    {"model,vocab,context,d,layers,heads,d_ff,colour\n", "", "line 1: cards have no column 'colour'"},
    {"model,vocab,context,d,layers,heads,d_ff,d\n", "", "line 1: the column 'd' is there twice"},
    {"model,vocab,context,d,layers,heads,d_ff,latent_rope\n", "a,9,9,8,1,2,3,4\n", "line 2: latent_rope (4) needs"},
    {"model,vocab,context,d,layers,heads,d_ff,year\n", "a,9,9,8,1,2,3,17\n", "line 2: year must be a whole number"},
};

static void names_of_other_scripts(void **state) {
    (void)state;
    char text[300];
    snprintf(text, sizeof text, "%s模型,9,9,8,1,2,3,,,,,\n小模型,9,9,8,2,2,3,,,,,\n", header);
    write_file(text);
    Cards c;
    Status s = cards_read(path, &c);
    if (!status_is_ok(&s)) fail_msg("%s", s.text);
    assert_int_equal(card_named(&c, "模型")->config.layers, 1);
    assert_int_equal(card_named(&c, "小模型")->config.layers, 2);
    cards_done(&c);
}

static void faults_name_their_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s", faults[i].head, faults[i].rows);
        write_file(text);
        Cards c;
        Status s = cards_read(path, &c);
        assert_int_equal(s.code, STATUS_USAGE);
        if (!strstr(s.text, faults[i].says)) fail_msg("%s instead of %s", s.text, faults[i].says);
        if (*text && !strstr(s.text, path)) fail_msg("%s does not name the file", s.text);
        assert_int_equal(c.count, 0);
    }
    Cards c;
    Status s = cards_read("/nowhere/cards.csv", &c);
    assert_int_equal(s.code, STATUS_USAGE);
}

static void experiments_take_the_file(void **state) {
    (void)state;
    write_file("model,vocab,context,d,layers,heads,d_ff,note\nmine,56,64,64,2,4,176,told so\n");
    char file[80];
    snprintf(file, sizeof file, "file=%s", path);
    Study *s = run_study("arch.cards", file, NULL);
    Table *t = study_result(s, "cards");
    assert_int_equal(table_rows(t), 1);
    assert_string_equal(cell_text(t, 0, "model"), "mine");
    assert_true(table_is_empty(t, 0, table_find(t, "year")));
    table_free(t);
    study_free(s);
    s = run_study("kv.size", file, "cards=mine", "T=1", NULL);
    t = study_result(s, "size");
    assert_int_equal(cell_int(t, 0, "bytes"), 2 * 2 * 64 * 2);
    table_free(t);
    study_free(s);
    study_free(run_study("gqa.cost", file, "card=mine", NULL));
    study_free(run_study("mla.cost", file, "card=mine", NULL));
    study_free(run_study("arch.account", file, "card=mine", NULL));
}

/* What a form shows of options that are not given must not read what the experiment will. */
static void looking_reads_no_input(void **state) {
    (void)state;
    static const char *const ids[][2] = {{"arch.account", "d"}, {"gqa.cost", "kv_heads"}, {"mla.cost", "latent"}};
    Str text;
    str_init(&text);
    write_file("model,vocab,context,d,layers,heads,d_ff\ngpt2,9,9,8,2,4,3\n");
    assert_non_null(freopen(path, "r", stdin));
    for (int i = 0; i < 3; i++) {
        Options *o = catalog_options(catalog_find(ids[i][0]));
        Status s = options_set_pair(o, "card=gpt2");
        if (status_is_ok(&s)) s = options_set_pair(o, "file=-");
        if (status_is_ok(&s)) s = catalog_check(catalog_find(ids[i][0]), o);
        assert_int_equal(s.code, STATUS_OK);
        (void)options_follow(o, ids[i][1], &text);
        options_free(o);
    }
    Study *study = run_study("arch.cards", "file=-", NULL); /* all of it is still there */
    study_free(study);
    str_done(&text);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_published), cmocka_unit_test(some_counts_are_exact),
        cmocka_unit_test(names_are_forgiving),        cmocka_unit_test(what_a_configuration_cannot_say),
        cmocka_unit_test(a_short_card_is_enough),     cmocka_unit_test(names_of_other_scripts),
        cmocka_unit_test(faults_name_their_line),     cmocka_unit_test(experiments_take_the_file),
        cmocka_unit_test(looking_reads_no_input),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
