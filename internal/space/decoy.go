package space

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	mathrand "math/rand/v2"
	"time"

	"tandem/internal/space/seal"
)

// NoInvite is what everybody is told who does not get in: a wrong code, and one that is used, ended, too old or never was, are alike.
const NoInvite = "the code is wrong, or no invite with that code is open here"

// A stranger who knocks at all 1,024 plates learned which of them are open invites. Where none is, the host itself answers as an
// inviter would, with a card of its own for each plate and a secret that nobody knows, and then says what a wrong guess is told.

// pretend takes the next step of a join that leads nowhere.
func (r *Room) pretend(ctx context.Context, n knock) (Knock, bool, error) {
	t := time.NewTimer(20*time.Millisecond + mathrand.N(40*time.Millisecond)) // an inviter is not quicker
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return n.Knock, false, nil
	}
	out := n.Knock
	if n.Answer != nil {
		out.Refused = NoInvite
	} else if err := r.decoys.answer(&out); err != nil {
		out.Refused = "the knock is malformed"
	}
	if !r.knocks.update(n.ID, r.db.Now(), func(k *knock) { k.Knock = out }) {
		return Knock{}, false, expired()
	}
	return out, false, nil
}

// decoys are inviters who are not there.
type decoys struct{ secret []byte }

func newDecoys() decoys {
	d := decoys{make([]byte, 32)}
	rand.Read(d.secret) // it does not fail
	return d
}

// answer is the inviter's first message.
func (d decoys) answer(k *Knock) error {
	mac := hmac.New(sha256.New, d.secret)
	mac.Write([]byte(k.Plate))
	me, err := seal.IdentityFromSeed(mac.Sum(nil))
	if err != nil {
		return err
	}
	mine, err := json.Marshal(me.Card())
	if err != nil {
		return err
	}
	theirs, err := json.Marshal(k.Card)
	if err != nil {
		return err
	}
	code := make([]byte, 16)
	rand.Read(code)
	h, err := seal.AnswerHandshake(code, seal.Invite{Plate: k.Plate}.Channel(), k.SID, mine, k.Hello, theirs)
	if err != nil {
		return err
	}
	k.Answer, k.By = h.Message(), me.Card()
	return nil
}
