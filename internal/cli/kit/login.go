package kit

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	login "tandem/internal/login/wire"
	"tandem/internal/op"
	"tandem/internal/server/wire"
)

// Login is the server elsewhere that this command is for, nil for this machine's own: the one that --server or TANDEM_SERVER names,
// else the one that was taken. A command in a session, or one that acts with a token, speaks to this machine's own, and is refused
// where another one is named.
func (k *Kit) Login(ctx context.Context) (*login.Login, error) {
	if !k.Far {
		return nil, nil
	}
	if k.SessionSocket() != "" {
		if which, must := k.named(k.variable("TANDEM_SERVER")); must {
			return nil, notFor(which, "a command in a session")
		}
		return nil, nil
	}
	if k.login == nil {
		l, err := k.findLogin(ctx)
		if err != nil {
			return nil, err
		}
		if k.login = l; l == nil {
			k.login = &login.Login{}
		}
	}
	if k.login.Name == "" {
		return nil, nil
	}
	return k.login, nil
}

// named is the server that the command line names, else the setting, and whether it must be that one and no other. An address with an
// invitation or a repository behind it says where workspaces are made: where no login is at that address, it is none for a command.
func (k *Kit) named(setting string) (which string, must bool) {
	if k.Server != "" {
		return k.Server, k.Server != login.Own
	}
	rest, _, invited := strings.Cut(setting, "#")
	_, address, web := strings.Cut(rest, "://")
	if !web {
		address = rest
	}
	which, _, ofRepo := strings.Cut(address, "/")
	return which, which != "" && which != login.Own && !invited && !ofRepo
}

func (k *Kit) findLogin(ctx context.Context) (*login.Login, error) {
	s, err := k.Settings()
	if err != nil {
		return nil, err
	}
	which, must := k.named(s.Get("server"))
	token := s.Get("as_token") != ""
	switch {
	case which == login.Own, token && !must:
		return nil, nil
	case token:
		return nil, notFor(which, "a command that acts with a token (TANDEM_AS_TOKEN)")
	}
	c, err := k.Own(ctx)
	if err != nil {
		return nil, err
	}
	all, err := op.Do(ctx, c, login.List, struct{}{})
	if client.CutOff(err) { // it ended as this command came: a look is repeated, and starts it
		if c, err = k.Own(ctx); err != nil {
			return nil, err
		}
		all, err = op.Do(ctx, c, login.List, struct{}{})
	}
	switch {
	case !must && (fault.Is(err, fault.Denied) || fault.Is(err, fault.NotFound) || Unnamed(err)): // whoever may not know of logins has none
		return nil, nil
	case err != nil:
		return nil, err
	}
	if l := all.Find(which); l != nil {
		return l, nil
	}
	if !must {
		return all.Taken(), nil
	}
	st, err := op.Do(ctx, c, wire.ServerStatus, identity.Nothing{})
	if err == nil && slices.Contains(append(st.Listens, st.Address), which) { // this machine's own, by its address
		return nil, nil
	}
	if k.Server == "" {
		return nil, fault.New(fault.NotFound, "login", "you are not logged in at %s, which the variable TANDEM_SERVER names", which).
			WithNext("for this machine's own server: TANDEM_SERVER=own, or --server own; to log in there: tandem login %s#INVITE", which)
	}
	return nil, fault.New(fault.NotFound, "login", "you are not logged in at %s", which).
		WithNext("see where you are: tandem login list; to log in: tandem login HOST:PORT#INVITE; for this machine's own server: --server own")
}

// Folder is a folder that a command was given, as the server that it is for knows it: this one where none was given. A server elsewhere
// knows nothing of this machine's folders, so one there is named from its root, and none stands for none.
func (k *Kit) Folder(ctx context.Context, given string) (string, error) {
	l, err := k.Login(ctx)
	switch {
	case err != nil:
		return "", err
	case l == nil:
		return filepath.Abs(given)
	case given != "" && !filepath.IsAbs(given) && !strings.HasPrefix(given, "/"):
		return "", Usagef("%s is a folder of this machine, and the command is for %s: name one there, from its root", given, l.Name)
	}
	return given, nil
}

// Checkout is Folder for one in a git checkout, which has to be there if it is on this machine.
func (k *Kit) Checkout(ctx context.Context, given string) (string, error) {
	folder, err := k.Folder(ctx, given)
	if l, failed := k.Login(ctx); err != nil || failed != nil || l != nil {
		return folder, cmp.Or(err, failed)
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return "", fault.New(fault.Invalid, "job", "%s is not there", given).WithNext("name a folder in a git checkout: -C FOLDER")
	}
	return folder, inGit(folder)
}

// inGit refuses a folder that no git checkout holds, before anything is begun in it.
func inGit(folder string) error {
	there := func(at, name string) bool { _, err := os.Lstat(filepath.Join(at, name)); return err == nil }
	for at := folder; ; at = filepath.Dir(at) {
		switch {
		case there(at, ".git"):
			return nil
		case there(at, ".jj"):
			return fault.New(fault.Invalid, "job", "%s is a workspace of jj, and a job works in a git checkout or for a served repository", at).
				WithNext("name the repository, on the machine that serves it: tandem job start --repo NAME; those served: tandem repo list")
		case at == filepath.Dir(at):
			return fault.New(fault.Invalid, "job", "%s is in no git checkout", folder).
				WithNext("name a folder in one: -C FOLDER; or make one there: git init")
		}
	}
}

// notFor is a server elsewhere that was named where only this machine's own is spoken to.
func notFor(which, who string) error {
	return fault.New(fault.Denied, "login", "%s speaks to this machine's own server, and not to %s: a login is for its person's own terminal",
		who, which).
		WithNext("say it on your own terminal; for this machine's own server: --server own, and no TANDEM_SERVER")
}

// variable is a variable of the environment, "" where it is not set.
func (k *Kit) variable(name string) string {
	for _, kv := range k.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
