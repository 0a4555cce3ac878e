/* observe_step: one training step from inside: every operation of the tape on the sentence that is looked at, with its
 * values and, from its own next-token loss, their gradients; and what the last update of the run changed.
 *
 * The observer `step` puts these into the snapshot:
 *   table pass (one row): loss,targets,values,kept,update,optimizer,learning_rate,grad_norm,clip_factor
 *     loss      nats per target; empty while a sentence of one token has none
 *     values    numbers that the operations gave
 *     kept      1: all of them are fields; 0: those of one operation, which command `operation` chooses
 *     update    the step that led here, empty where it is not known; what follows is of it
 *   table ops: index,name,kind,rows,columns,inputs,parameters,formula,mean,rms,least,most,
 *     grad_mean,grad_rms,grad_least,grad_most
 *     grad_*    empty where no gradient arrives, and of a model too large for a backward pass at every look
 *   table tensors: name,count,theta_rms,grad_rms,delta_rms,ratio
 *     theta     of every tensor of parameters, after the update
 *     grad      of the update's batch, before clipping
 *     delta     what the update added; ratio is delta_rms / theta_rms; all empty where it is not known
 *   fields step.{i}.value and step.{i}.gradient [rows columns] of operation i */
#ifndef LAB_OBSERVE_STEP_H
#define LAB_OBSERVE_STEP_H

#include "snapshot.h"

extern const Column observe_step_pass_columns[], observe_step_op_columns[], observe_step_tensor_columns[];

/* values: op,name,row,token,column,value,gradient of one operation. NULL: its values are not in the snapshot. */
Table *observe_step_values(const Snapshot *s, int op);

#endif
