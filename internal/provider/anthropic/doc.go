// Package anthropic speaks the Anthropic Messages API (streaming) as a provider.Model.
//
// It owns the translation of requests, stream events and errors of that one wire. It refuses to retry, to follow
// redirects and to interpret a stream that does not keep to the protocol: such a stream is provider.Garbled or,
// when it merely ends early, provider.Cut.
package anthropic
