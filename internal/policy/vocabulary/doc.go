// Package vocabulary writes grants, scopes and callers in the published words (ResourceRef, ResourceScope, ScopedGrant, PrincipalRef,
// DataBoundary, StrictTenantContext) and reads them back.
//
// What is written here and read back is the same grant. What comes from elsewhere is read as it stands or refused, never wider than it was
// meant: a kind of thing that this house does not have, a branch or a project, which nothing here is bound to, and a narrowing that was
// lost on the way are refused. What this house says and the published words cannot say has a word of its own (tandem_…, …_within), which
// a reader of the published words alone does not know: it refuses the whole rather than read more into it.
//
// A tree is a tree here: /fin holds /fin/x and not /finance, a kind speaks of its own kind alone, and a depth is kept.
package vocabulary
