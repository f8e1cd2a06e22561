// Package tunnel gives the local bridge a public address when somebody asks for one: a Tailscale Funnel, which keeps its
// address, or a Cloudflare quick tunnel, which has a new one each time. It runs those programs where they are installed and
// says what to do where they are not, or where the tailnet does not allow it. Nothing is opened by itself.
//
// # States
//
//	open ──► closed    (by a person, or a quick tunnel when the server stops)
//	  └────► dropped   (its program ended, or the funnel was taken down; people are told)
//
// A funnel belongs to the Tailscale daemon and outlives this server; a quick tunnel is this server's child and ends with it.
// One that a crash left behind is ended at the next start.
//
// Through a tunnel only the bridge is served: MCP, what connecting to it needs, the doors at which members of spaces knock and
// show their signatures, health and the icon. The panel is not, and nobody decides anything there.
package tunnel
