// Package provider owns the contract between Tandem and a model: what a request says, what a reply holds, how a
// reply arrives in parts, and in which kinds a call can fail.
//
// A Model makes exactly one HTTP request per call of Stream. It never retries, never falls back and never sleeps:
// the caller decides about a second attempt (Backoff says how long to wait), because every attempt is charged to a
// budget and has a record of its own.
//
// What the provider sent is kept verbatim in Block.Raw together with the name of the wire it came over. The same
// wire gets the same bytes back, so signatures and encrypted reasoning survive a restart; another wire gets the
// neutral fields and loses only what it could not have understood.
//
// The package refuses to hold keys: clients (anthropic, openai) take them at construction, send them in one header
// and remove them from every error text.
package provider
