// Package catalog knows the providers that Tandem offers by name: their address, wire and key variable, how to open a
// client for one, and what their well-known models cost.
//
// It refuses to invent: an unknown provider is an error, and a model whose price is not in the table has no price, so
// a budget in money can say so instead of counting nothing. It holds no keys.
package catalog
