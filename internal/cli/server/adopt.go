package server

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/server/wire"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// unserved are the repositories of this command line that a running server does not serve.
func unserved(k *kit.Kit, st *wire.Status) (paths []string) {
	for p := range strings.SplitSeq(k.Flags["repos"], ",") {
		if p != "" && p != "none" && !slices.ContainsFunc(st.Repos, func(have string) bool { return sameFolder(have, p) }) {
			paths = append(paths, p)
		}
	}
	return paths
}

func sameFolder(a, b string) bool {
	for _, p := range []*string{&a, &b} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// adopt prepares a start that serves more: what is served already, what was named now, and everything that the running server was
// told on its own command line and this one does not say anew.
func adopt(ctx context.Context, k *kit.Kit, c *client.Client, st *wire.Status, more []string) error {
	if st.Version != k.Version {
		return fault.New(fault.Conflict, "up", "tandem is already running (PID %d, %s), as version %s", st.PID, describe(st), st.Version).
			WithNext("let version %s take its place: tandem up --replace --repo %s", k.Version,
				strings.Join(append(slices.Clone(st.Repos), more...), " --repo "))
	}
	told, err := op.Do(ctx, c, wire.ServerSettings, identity.Nothing{})
	if err != nil {
		return err
	}
	for _, v := range told.Settings {
		_, anew := k.Flags[v.Key]
		if v.Source == "flag" && !anew && !v.Secret && v.Key != "data" && v.Key != "control_socket" {
			k.Flags[v.Key] = v.Value
		}
	}
	k.Flags["repos"] = strings.Join(append(slices.Clone(st.Repos), more...), ",")
	fmt.Fprintf(k.Err, "tandem is running and starts again, to serve %s too\n", strings.Join(more, " and "))
	return nil
}
