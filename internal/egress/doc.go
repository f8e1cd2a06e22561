// Package egress is the guard on what the program dials for somebody else: pages that an agent asks for, outside servers,
// webhooks and notices. It owns one rule: no private, loopback, link-local, metadata or otherwise special address, unless it
// is an origin that a person configured.
//
// The rule is applied to the address that is really dialled, after the name was resolved, once, so neither a redirect nor a
// name that changes its mind between looking and dialling leads inside. It never uses a proxy from the environment.
package egress
