package seal

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"

	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"
)

// Newcomer is a member to be: the offer that goes to the inviter, and the
// private keys that open the welcome.
type Newcomer struct {
	me   *Identity
	kp   *keypackages.KeyPackage
	priv *keypackages.KeyPackagePrivateKeys
}

// NewNewcomer makes a single-use key package.
func NewNewcomer(me *Identity) (*Newcomer, error) {
	kp, priv, err := generate(me)
	if err != nil {
		return nil, err
	}
	return &Newcomer{me: me, kp: kp, priv: priv}, nil
}

// KeyPackage is the public offer.
func (n *Newcomer) KeyPackage() []byte { return n.kp.Marshal() }

// Join opens a welcome.
func (n *Newcomer) Join(welcome []byte) (out *Group, err error) {
	defer malformed("the welcome", &err)
	w, err := parseWelcome(welcome)
	if err != nil {
		return nil, err
	}
	inner, err := group.JoinFromWelcome(w, n.kp, n.priv, nil)
	if err != nil {
		return nil, refuse("the welcome does not open: %v", err)
	}
	g, err := wrap(n.me, inner)
	if err != nil {
		return nil, err
	}
	if _, err := g.Roster(); err != nil {
		return nil, err
	}
	return g, nil
}

func parseWelcome(data []byte) (*group.Welcome, error) {
	msg, err := framing.UnmarshalMLSMessage(data)
	if err != nil || len(msg.Welcome) == 0 {
		return nil, refuse("these bytes are not a welcome")
	}
	w, err := group.UnmarshalWelcome(msg.Welcome)
	if err != nil {
		return nil, refuse("the welcome is malformed: %v", err)
	}
	return w, nil
}

// CardOf reads whose key package this is.
func CardOf(keyPackage []byte) (card Card, err error) {
	defer malformed("the key package", &err)
	kp, err := keypackages.UnmarshalKeyPackage(keyPackage)
	if err != nil || kp.LeafNode == nil || kp.LeafNode.Credential == nil {
		return Card{}, refuse("these bytes are not a key package")
	}
	return cardFromCredential(kp.LeafNode.Credential.Identity, kp.LeafNode.SignatureKeyBytes)
}

// newcomerState is how a Newcomer survives a restart between knocking and the
// welcome's arrival.
type newcomerState struct {
	KeyPackage []byte `json:"kp"`
	Init       []byte `json:"init"`
	Leaf       []byte `json:"leaf"`
}

// Bytes returns the newcomer's state to store. It holds secrets.
func (n *Newcomer) Bytes() ([]byte, error) {
	return json.Marshal(newcomerState{KeyPackage: n.kp.Marshal(), Init: n.priv.InitKey.Bytes(), Leaf: n.priv.EncryptionKey.Bytes()})
}

// OpenNewcomer restores what Bytes returned.
func OpenNewcomer(me *Identity, data []byte) (*Newcomer, error) {
	var s newcomerState
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("read newcomer: %w", err)
	}
	return newcomerFrom(me, s, me.sign)
}

func newcomerFrom(me *Identity, s newcomerState, sign ed25519.PrivateKey) (*Newcomer, error) {
	kp, err := keypackages.UnmarshalKeyPackage(s.KeyPackage)
	if err != nil {
		return nil, fmt.Errorf("read key package: %w", err)
	}
	initKey, err := x25519Key(s.Init)
	if err != nil {
		return nil, err
	}
	leafKey, err := x25519Key(s.Leaf)
	if err != nil {
		return nil, err
	}
	return &Newcomer{me: me, kp: kp, priv: &keypackages.KeyPackagePrivateKeys{
		InitKey: initKey, EncryptionKey: leafKey, Ed25519SignatureKey: sign,
	}}, nil
}
