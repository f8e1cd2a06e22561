package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/fault"
	login "tandem/internal/login/wire"
)

// Follow are the commands that take the server that the person is logged in at.
var Follow = []string{"whoami", "invite", "person", "group", "device", "actor",
	"token", "tenant", "assertion", "approvals", "approve", "deny", "inbox", "grant", "access", "policy", "audit",
	"session", "relay", "connector", "budget", "resource", "memory", "source", "knowledge", "automation", "artifact", "context"}

// Stay are the commands that are about this machine unless --server names another: its keys, its models, its folders, the jobs in them.
// What is typed there is meant for the machine that it is typed on. The others are about this machine alone.
var Stay = []string{"grant folder", "job", "provider", "queue", "secret", "team"}

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

// Named says that somebody named the server of this command, by --server or by TANDEM_SERVER.
func (k *Kit) Named() bool { return k.Server != "" || k.variable("TANDEM_SERVER") != "" }

// elsewhere is the login that the person took, nil where one server alone can be meant.
func (k *Kit) elsewhere(ctx context.Context) *login.Login {
	far, was := k.Far, k.login
	defer func() { k.Far, k.login = far, was }()
	k.Far = true
	taken, err := k.Login(ctx)
	if err != nil || k.Named() {
		return nil
	}
	return taken
}

// Two says that something may be on this machine or at the person's login: nobody named the one or the other.
func (k *Kit) Two(ctx context.Context) bool { return k.elsewhere(ctx) != nil }

// Seek finds something by its id where it is: where the command is about, else at the person's login or on this machine, whichever the
// command is not about. Where it is found, there the command goes on. A server that somebody named is the only one.
func (k *Kit) Seek(ctx context.Context, look func() error) error {
	taken, missing := k.elsewhere(ctx), look()
	if taken == nil || !fault.Is(missing, fault.NotFound) {
		return missing
	}
	far, was := k.Far, k.login
	other, place := taken, fmt.Sprintf("%s (%s), where you are logged in", taken.Name, taken.Server)
	if far {
		other, place = &login.Login{}, "this machine's own server"
	}
	k.Far, k.login = true, other
	if look() != nil {
		k.Far, k.login = far, was
		return missing
	}
	fmt.Fprintf(k.Err, "it is at %s\n", place)
	return nil
}

// There runs calls at the server where the person is logged in, and tells of which; where there is none it runs nothing.
func (k *Kit) There(ctx context.Context, calls func(*login.Login) error) error {
	taken := k.elsewhere(ctx)
	if taken == nil {
		return nil
	}
	far, was := k.Far, k.login
	defer func() { k.Far, k.login = far, was }()
	k.Far, k.login = true, taken
	return calls(taken)
}

// Here runs calls at this machine's own server, wherever the command goes otherwise.
func (k *Kit) Here(calls func() error) error {
	was := k.login
	k.login = &login.Login{}
	defer func() { k.login = was }()
	return calls()
}
