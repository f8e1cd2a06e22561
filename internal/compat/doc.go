// Package compat speaks the shapes that the published clients expect (npm @frumu/tandem-client 0.6.4, PyPI tandem-client 0.7.2):
// their routes, bodies and events, translated to operations and back. It decides nothing and keeps nothing: who may do what is
// the gate's, and every route here is one or a few operations.
//
// Where the engine that those clients were written for breaks its own promise, the clients' documentation is what is kept:
// session.response is sent, the reply of promptSync is an object, a stream that names its run replays it from the start and ends
// with it, and an answer to a question reaches the agent.
package compat
