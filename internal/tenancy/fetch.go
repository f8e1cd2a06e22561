package tenancy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/identity"
)

// fetch copies a file to where nobody changes it any more, and says which one it is: what is tried, what is read and what a person
// confirms is one and the same.
func (c *Carrier) fetch(ctx context.Context, folder string, in identity.ImportIn) (path, digest string, err error) {
	where := string(identity.TenantImport)
	st, err := os.Stat(in.Path)
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	var from *os.File
	if err == nil {
		from, err = os.Open(in.Path)
	}
	if err != nil {
		return "", "", fault.New(fault.Invalid, where, "%s cannot be read: %w", in.Path, err).WithNext("check the path, and that you may read it")
	}
	defer from.Close()
	if free := c.At.Free(); free >= 0 && st.Size() > max(free-keptFree, 0)/lies {
		return "", "", fault.New(fault.Exhausted, where, "the file has %d bytes, and there is no room for what is in it on this disk", st.Size()).
			WithNext("make room on the disk that the server's data folder is on")
	}
	path = filepath.Join(folder, "file.tenant")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", "", err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(from, st.Size()+1))
	if err = errors.Join(err, to.Close(), ctx.Err()); err != nil {
		return "", "", err
	}
	if n != st.Size() {
		return "", "", fault.New(fault.Conflict, where, "%s changes while it is read", in.Path).WithNext("wait until it is whole")
	}
	digest = hex.EncodeToString(h.Sum(nil))
	if in.Digest != "" && in.Digest != digest {
		return "", "", fault.New(fault.Conflict, where, "the file is not the one that you mean: its sha256 is %s", digest).
			WithNext("compare it with what the export of the tenant printed, and take that file")
	}
	return path, digest, nil
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
