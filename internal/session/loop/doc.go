// Package loop drives sessions with models: the model proposes, the runtime decides.
//
// A turn is a conversation that grows by steps. Each step is read off the rows, never off memory: calls that have no result
// are run, results that the model has not seen are given to it, and otherwise the model is asked. So a turn that was cut at any
// instant goes on from where its rows stand. What a step does to the world passes the gate: a call of a tool as the tool's
// own operation, a call of a model as session.model_call, each with an idempotency key and a record.
//
// The loop refuses to run a tool that was not offered, to go on past a budget, and to repeat itself without end. Results of
// tools are given to the model marked as data.
package loop
