package space

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// attach brings files to the daemon, and returns the ids by which a message names them.
func attach(k *kit.Kit, cmd *cobra.Command, files []string) (ids []string, err error) {
	if len(files) > peer.MaxAttachments {
		return nil, kit.Usagef("a message has at most %d attachments", peer.MaxAttachments)
	}
	for _, file := range files {
		data, err := readWhole(file)
		if err != nil {
			return nil, err
		}
		in, err := Chosen(k, cmd, peer.AttachIn{Name: filepath.Base(file), Data: data})
		if err != nil {
			return nil, err
		}
		out, err := op.Do(cmd.Context(), k, peer.SpaceAttach, in)
		if err != nil {
			return nil, Spoken(err)
		}
		ids = append(ids, out.ID)
	}
	return ids, nil
}

// readWhole reads a plain file that is small enough.
func readWhole(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fault.New(fault.NotFound, "space.attach", "cannot read %s: %w", file, err).
			WithNext("name a file that is there: --attach FILE")
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "space.attach", "%s is not a plain file", file).WithNext("attach files one by one: --attach FILE")
	}
	data, err := io.ReadAll(io.LimitReader(f, peer.MaxAttachment+1))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "space.attach", "cannot read %s: %w", file, err)
	}
	if len(data) > peer.MaxAttachment {
		return nil, fault.New(fault.Invalid, "space.attach", "%s has more than %d MiB, which an attachment may have", file,
			peer.MaxAttachment>>20).WithNext("send a part of it, or say where it can be found")
	}
	return data, nil
}

func newAttachment(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "attachment", Short: "Save what came with a message"}
	var as string
	save := &cobra.Command{Use: "save MESSAGE [NUMBER]", Short: "Write an attachment into a file",
		Long: "Write an attachment of a message into this folder under the name that its sender gave it, or where --as says. " +
			"A file that is there is never written over. " +
			"What the host gives is held against the hash that the sender named; nothing is written when it differs.",
		Example: "  tandem space attachment save m_01j…\n  tandem space attachment save m_01j… 2 --as notes.txt", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := peer.AttachmentIn{ID: args[0]}
			if len(args) == 2 {
				var err error
				if in.N, err = strconv.Atoi(args[1]); err != nil || in.N < 1 {
					return kit.Usagef("NUMBER says which of the message's attachments, from 1")
				}
			}
			in, err := Chosen(k, cmd, in)
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, peer.SpaceAttachment, in)
			if err != nil {
				return Spoken(err)
			}
			to := as
			if to == "" {
				if to = peer.SafeName(out.Name); to == "" {
					return fault.New(fault.Invalid, "space.attachment", "its name is no name of a file here").WithNext("name the file: --as FILE")
				}
			}
			if err := writeNew(to, out.Data); err != nil {
				return err
			}
			saved := savedFile{out.Attached, plain(out.From), to}
			return k.Show(saved, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d bytes from %s, SHA-256 %s\n", kit.Visible(to), out.Size, plain(out.From), out.Sum)
			})
		}}
	save.Flags().StringVar(&as, "as", "", "the file to write (the sender's name for it, in this folder)")
	Choose(save)
	cmd.AddCommand(save)
	return cmd
}

// savedFile is an attachment that was written.
type savedFile struct {
	peer.Attached
	From string `json:"from"`
	File string `json:"file"`
}

// writeNew writes a file that is not there yet, whole or not at all.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "space.attachment", "there is a %s already, and it is not written over", path).
			WithNext("name another file: --as FILE")
	}
	if err != nil {
		return fault.New(fault.Unavailable, "space.attachment", "cannot write %s: %w", path, err).
			WithNext("name a file that can be written: --as FILE")
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return errors.Join(fault.New(fault.Unavailable, "space.attachment", "cannot write %s: %w", path, err), os.Remove(path))
	}
	return nil
}
