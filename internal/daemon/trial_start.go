package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/tool/box"
)

const (
	trialPatience = 15 * time.Minute
	trialAnswer   = 1 << 20 // bytes
)

// trials says whether tenants' files can be tried here, and so be taken at all.
func (d *Daemon) trials() error {
	if d.rooms.session.Sandbox().Machine.Works() {
		return nil
	}
	return fault.New(fault.Conflict, "sandbox", "this machine has no sandbox, and a tenant's file is tried in one before it is taken").
		WithNext("install bubblewrap (apt install bubblewrap), or move the whole server: tandem server backup PATH")
}

// tryTenant has a server of its own in a box take a tenant's file. folder is for that server alone.
func (d *Daemon) tryTenant(ctx context.Context, folder string, in identity.ImportIn) error {
	if d.tries { // this is that server
		return nil
	}
	if err := d.trials(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder = filepath.Join(folder, "trial") // it sees the file, and cannot change it
	tmp := filepath.Join(folder, "tmp")     // what is written there meanwhile takes no memory
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	said, err := json.Marshal(trial{Folder: folder, Version: d.Version, In: in})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, trialPatience)
	defer cancel()
	cmd, done, err := d.rooms.session.Sandbox().Machine.Command(ctx, box.Box{Argv: []string{self, trialWord}, Dir: "/",
		Env:    []string{"LANG=C.UTF-8", "GOTRACEBACK=none", "HOME=" + folder, "TMPDIR=" + tmp},
		Mounts: append(box.Read(self, in.Path), box.Write(folder)...)})
	if err != nil {
		return err
	}
	defer done()
	cmd.Stdin = bytes.NewReader(said)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fault.New(fault.Unavailable, "sandbox", "the program that tries the file could not be started: %w", err)
	}
	text, readErr := io.ReadAll(io.LimitReader(out, trialAnswer))
	cancelled := ctx.Err()
	waitErr := cmd.Wait()
	var v tried
	switch {
	case errors.Is(cancelled, context.Canceled):
		return cancelled
	case cancelled != nil:
		return fault.New(fault.Invalid, string(identity.TenantImport), "the file cannot be taken: trying it takes longer than %s", trialPatience).
			WithNext("nothing was changed")
	case readErr != nil || json.Unmarshal(text, &v) != nil || !v.Done:
		d.Log.Warn("a server that tried a tenant's file ended", "err", waitErr)
		return fault.New(fault.Invalid, string(identity.TenantImport), "the file cannot be taken: the server that tried it in a box ended; "+
			"it wants more memory than is allowed, or is made to do harm").WithNext("nothing was changed")
	case v.Why == "":
		return nil
	}
	f := fault.New(v.Kind, string(identity.TenantImport), "%s", fault.Clip(v.Why, 1000))
	if v.Kind == fault.Invalid && v.Next == "" {
		f = f.WithNext("nothing was changed; export the tenant again: tandem tenant export NAME FILE")
	} else if v.Next != "" {
		f = f.WithNext("%s", v.Next)
	}
	return f
}
