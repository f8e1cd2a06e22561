// Package forge speaks with forges: Gitea, Forgejo and GitHub. It owns which repositories there a person added, the pull requests of jobs,
// and what people and services wrote about them. A token is sealed, lent to one request and sent to the one origin that was added.
//
// What comes from a forge was written by anybody: it is kept and shown as data, quoted for agents, and moves nothing here. It refuses to
// post anything that a person did not look at, to an address that is not the added one, or over what somebody else pushed.
package forge
