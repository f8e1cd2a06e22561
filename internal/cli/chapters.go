package cli

import "github.com/spf13/cobra"

// chapters are the parts of the help, in the order in which a new user needs
// them; a command is in exactly one.
var chapters = []struct {
	id, title string
	commands  []string
}{
	{"start", "The server:", []string{"setup", "up", "down", "status", "logs", "serve", "panel", "phone", "doctor", "settings", "service",
		"server", "uninstall", "man", "version"}},
	{"agents", "Agents at work:", []string{"run", "chat", "session", "job", "queue", "team", "forge", "relay", "automation", "pack",
		"artifact", "context", "provider", "connector", "budget", "mcp", "share"}},
	{"code", "Code:", []string{"init", "remote", "repo", "watch", "jj"}},
	{"team", "Working together:", []string{"space", "board", "memory", "source", "knowledge", "resource", "invite", "person", "group",
		"device", "login", "logout", "whoami", "tenant"}},
	{"authority", "Authority and proof:", []string{"inbox", "approvals", "approve", "deny", "grant", "access", "policy", "actor", "token",
		"assertion", "pin", "recover", "secret", "audit"}},
}

// file puts the commands into their chapters.
func file(root *cobra.Command) {
	chapter := map[string]string{}
	for _, c := range chapters {
		root.AddGroup(&cobra.Group{ID: c.id, Title: c.title})
		for _, name := range c.commands {
			chapter[name] = c.id
		}
	}
	for _, c := range root.Commands() {
		c.GroupID = chapter[c.Name()]
	}
}
