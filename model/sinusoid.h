/* sinusoid: the fixed position vectors that are added to embeddings, in double (Vaswani et al. 2017; lecture 2):
 * y[2i] = sin(position base^(-2i/d)), y[2i+1] = cos(the same). The tape and the decoder add the same, from tables
 * (angles.h). */
#ifndef MODEL_SINUSOID_H
#define MODEL_SINUSOID_H

#define SINUSOID_BASE 10000.0 /* of models */

/* y [d], d even. */
void sinusoid(int d, double base, double position, double *y);

#endif
