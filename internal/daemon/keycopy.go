package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem/internal/backup"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/installation"
	"tandem/internal/op"
	"tandem/internal/secret"
	"tandem/internal/settings"
	"tandem/internal/wholefile"
)

// keysFormat names the form of what another machine takes the keys from.
const keysFormat = "tandem.keys/v1"

// copiedKeys are an installation's keys on their way to another machine, and where its rows are.
type copiedKeys struct {
	Format       string            `json:"format"`
	Installation string            `json:"installation"`
	Made         time.Time         `json:"made"`
	Database     string            `json:"database"`
	Files        map[string][]byte `json:"files"`
}

// KeyCopyIn says where the keys go and what locks them.
type KeyCopyIn struct {
	Path       string `json:"path" jsonschema:"absolute path of a file that is not there yet"`
	Passphrase string `json:"passphrase" jsonschema:"locks the file"`
}

// minCode is how short what locks the keys may be.
const minCode = 12

// Check refuses keys that would lie open.
func (in KeyCopyIn) Check() error {
	if !filepath.IsAbs(in.Path) {
		return fault.New(fault.Invalid, string(ServerKeyCopy), "the path of the keys is absolute")
	}
	if len(in.Passphrase) < minCode {
		return fault.New(fault.Invalid, string(ServerKeyCopy), "what locks the keys has at least %d characters", minCode).
			WithNext("leave it to the command: tandem server key copy PATH")
	}
	return nil
}

// KeyCopyOut says what was copied.
type KeyCopyOut struct {
	Path    string   `json:"path"`
	Keys    []string `json:"keys"`
	Cluster string   `json:"cluster,omitempty" jsonschema:"the cluster that this server is one of"`
}

func (d *Daemon) keyOps() []op.Op {
	return []op.Op{ServerKeyCopy.Effect(op.Spec{Right: "server.export", Present: true, People: true, Socket: true, MCP: "-",
		Secret: []string{"passphrase"},
		Doc: "Write the server's keys to a locked file, for another machine that is to serve the same PostgreSQL.\n" +
			"Whoever has the file and what locks it has the server, so a person must be present."},
		func(KeyCopyIn) op.Resource { return op.Resource{Kind: "server", Path: "/keys"} }, d.keyCopy, nil)}
}

func (d *Daemon) keyCopy(ctx context.Context, in KeyCopyIn) (KeyCopyOut, error) {
	out := KeyCopyOut{Path: in.Path, Cluster: d.self.Cluster}
	if d.db.Path() != "" {
		return out, fault.New(fault.Conflict, string(ServerKeyCopy), "this server's data is in a file, which no other machine can serve").
			WithNext("move it to PostgreSQL first: tandem server move postgres://…")
	}
	if _, err := os.Lstat(in.Path); err == nil {
		return out, fault.New(fault.Conflict, string(ServerKeyCopy), "%s is there already", in.Path).
			WithNext("name a file that is not there yet: tandem server key copy PATH")
	}
	keeper, err := d.rooms.secret.Keeper(ctx)
	if err != nil {
		return out, err
	}
	if keeper != "file" {
		return out, fault.New(fault.Conflict, string(ServerKeyCopy), "the key of the secrets is in this machine's %s, which cannot be copied",
			keeper).
			WithNext("keep it as a file: TANDEM_SECRET_KEEPER=file tandem up --replace, then: tandem server rotate secret")
	}
	keys := copiedKeys{Format: keysFormat, Installation: d.kept.ID, Made: d.db.Now(), Database: d.dsn(), Files: map[string][]byte{}}
	for _, name := range keyFiles {
		data, err := os.ReadFile(filepath.Join(d.data, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, err
		}
		keys.Files[name] = data
		out.Keys = append(out.Keys, name)
	}
	body, err := json.Marshal(keys)
	if err != nil {
		return out, err
	}
	w, err := backup.Create(in.Path, keys.Made, backup.Secret{Passphrase: in.Passphrase}, nil)
	if err != nil {
		return out, d.db.Explain(err)
	}
	defer w.Drop()
	if err := w.Add(backup.Entry{Name: "keys", Mode: 0o600}, bytes.NewReader(body)); err != nil {
		return out, d.db.Explain(err)
	}
	_, err = w.Keep()
	return out, d.db.Explain(err)
}

// TakeKeys makes a data folder one of the installation whose keys a file holds. The folder has nothing of another one.
func TakeKeys(st *settings.Settings, path, passphrase string) (out KeyCopyOut, err error) {
	data := st.Data()
	if err := folder(data); err != nil {
		return out, err
	}
	release, err := hold(data)
	if err != nil {
		return out, err
	}
	defer release()
	if had, err := installation.Read(data); err != nil {
		return out, err
	} else if there := installation.Present(data); had != nil || len(there) > 0 {
		return out, fault.New(fault.Conflict, "server.key_take", "%s has an installation of its own already", data).
			WithNext("take an empty folder: tandem --data FOLDER server key take %s", path)
	}
	keys, err := readKeys(path, passphrase)
	if err != nil {
		return out, err
	}
	for name := range keys.Files {
		if !slices.Contains(keyFiles, name) {
			return out, fault.New(fault.Invalid, "server.key_take", "%s holds %q, which is no key", path, name)
		}
	}
	defer func() {
		if err != nil { // the folder is as empty as it was
			for name := range keys.Files {
				os.Remove(filepath.Join(data, name)) //nolint:errcheck // it may not be there
			}
		}
	}()
	for name, content := range keys.Files {
		if err := wholefile.Write(filepath.Join(data, name), content); err != nil {
			return out, err
		}
		out.Keys = append(out.Keys, name)
	}
	slices.Sort(out.Keys)
	keepers, err := secret.Keepers(data, "file")
	if err != nil {
		return out, err
	}
	kept := installation.New(keys.Made)
	kept.ID, kept.Home = keys.Installation, id.New("hom")
	if err := kept.Settle(keepers, data, keys.Database); err != nil {
		return out, err
	}
	out.Path = data
	return out, kept.Write(data) // last: without it the folder is none of the installation
}

func readKeys(path, passphrase string) (keys copiedKeys, err error) {
	if passphrase == "" {
		return keys, fault.New(fault.Invalid, "server.key_take", "the keys are locked with the code that the other machine showed").
			WithNext("type it when it is asked for, or say where it is: --passphrase-file FILE")
	}
	r, err := backup.Open(path, backup.Secret{Passphrase: passphrase})
	if fault.Is(err, fault.Denied) {
		return keys, fault.New(fault.Denied, "server.key_take", "that is not the code of these keys").
			WithNext("it is the one that was shown when this file was written; try again, nothing was changed")
	}
	if err != nil {
		return keys, err
	}
	defer r.Close()
	e, content, err := r.Next()
	if err != nil {
		return keys, err
	}
	body, err := io.ReadAll(content)
	if err != nil {
		return keys, err
	}
	if err := json.Unmarshal(body, &keys); e.Name != "keys" || err != nil || keys.Format != keysFormat {
		return keys, fault.New(fault.Invalid, "server.key_take", "%s holds no keys of a server", path).
			WithNext("make them where the server runs: tandem server key copy PATH")
	}
	return keys, nil
}
