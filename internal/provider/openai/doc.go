// Package openai speaks two wires as a provider.Model: OpenAI Responses, and Chat Completions, which is also the
// language of OpenRouter, OpenCode Zen, Ollama, vLLM, llama.cpp and most others.
//
// It owns the translation of requests, stream events and errors of these wires. Responses are asked for without being
// stored at the provider, with the encrypted reasoning included, so that a conversation lives in our records alone.
// It refuses to retry, to follow redirects and to guess the end of a stream that was cut.
package openai
