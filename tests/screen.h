/* screen: an application in a test: made without a laboratory, shown a snapshot, fed keys, drawn to text. */
#ifndef TESTS_SCREEN_H
#define TESTS_SCREEN_H

#include "app.h"
#include "fixture.h"
#include "str.h"

App *screen_new(const FixtureSpec *spec);         /* spec NULL: fixture_spec() */
void screen_keys(App *a, const char *keys);       /* "n<Tab>x" */
void screen_text(App *a, int w, int h, Str *out); /* appended */
typedef enum { SCREEN_COLOUR, SCREEN_NO_COLOUR, SCREEN_ASCII } ScreenLook; /* Unicode with heat in colours, without, ASCII */
void screen_text_as(App *a, int w, int h, ScreenLook look, Str *out);
/* The canvas of W x H must agree with golden/NAME.txt, characters and styles; with UPDATE=1 the file is written. */
void screen_golden(App *a, int w, int h, const char *name);
void screen_golden_as(App *a, int w, int h, ScreenLook look, const char *name);
/* A row of the 120 x 40 screen holds TEXT; fails with the screen when it does not. */
void screen_expect(App *a, const char *text);
void screen_refuse(App *a, const char *text);

/* Group fixtures: what keys write goes into a folder of our own, which is gone afterwards. */
int screen_enter_folder(void **state);
int screen_leave_folder(void **state);

#endif
