package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Follow are the commands that take the server that the person is logged in at.
var Follow = []string{"whoami", "invite", "person", "group", "device", "actor",
	"token", "approvals", "approve", "deny", "inbox", "grant", "policy", "audit",
	"session", "relay", "connector", "budget", "resource", "memory", "source", "automation"}

// Stay are the commands that are about this machine unless --server names another: its keys, its models, its folders.
// What is typed there is meant for the machine that it is typed on. The others are about this machine alone.
var Stay = []string{"grant folder", "provider", "secret"}

// About says which servers a command can be about, by its words without the program's name. A longer entry says it before a shorter.
func About(command string) (follows, stays bool) {
	within := func(list []string) bool {
		return slices.ContainsFunc(list, func(c string) bool { return strings.HasPrefix(command+" ", c+" ") })
	}
	stays = within(Stay)
	return within(Follow) && !stays, stays
}

// Place is where a command's words go, for questions and answers: a login by its name and address, "" for this machine.
func (k *Kit) Place(ctx context.Context) (string, error) {
	l, err := k.Login(ctx)
	if err != nil || l == nil {
		return "", err
	}
	return fmt.Sprintf("%s (%s)", l.Name, l.Server), nil
}

// SecretFor asks for a secret on the terminal, and says whose it is and which machine keeps it.
func (k *Kit) SecretFor(ctx context.Context, what string) (string, error) {
	place, err := k.Place(ctx)
	if err != nil {
		return "", err
	}
	where := "on this machine"
	if place != "" {
		where = "at " + place
	}
	return k.Secret(fmt.Sprintf("%s, kept %s: ", what, where))
}

// AtPlace is " at NAME" for what was done at a login's server, and nothing for this machine.
func (k *Kit) AtPlace(ctx context.Context) string {
	if l, err := k.Login(ctx); err == nil && l != nil {
		return " at " + l.Name
	}
	return ""
}
