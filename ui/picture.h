/* picture: the screen as a file: plain text, text with ANSI colours (for cat), or SVG (for a slide, at any size). */
#ifndef UI_PICTURE_H
#define UI_PICTURE_H

#include "canvas.h"

typedef enum { PICTURE_TEXT, PICTURE_ANSI, PICTURE_SVG } PictureKind;

PictureKind picture_kind(const char *path); /* by its end: .svg; .ans and .ansi; text for all others */
/* Whether heat is a colour in it; the canvas is drawn for that. */
bool picture_heat_is_colour(const StyleSheet *style, PictureKind kind);
/* Adds the picture of C to OUT. ANSI has the colours of the sheet's depth; SVG has true colour on the theme's ground,
 * and draws blocks, box lines and braille dots as shapes, so that they meet whatever the fonts of the reader are. */
void picture_add(const Canvas *c, const StyleSheet *style, PictureKind kind, Str *out);

#endif
