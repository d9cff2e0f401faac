package toxscreen

import (
	"fmt"
	"strings"
)

// Attribute is one of the properties that a text is scored for. The zero
// value is Toxicity. Its text form, in JSON too, is the snake_case name.
type Attribute uint8

// The attributes, as Google's Perspective API defined them. Columns, bars and JSON keys
// have this order everywhere.
const (
	Toxicity         Attribute = iota // rude, disrespectful or unreasonable: likely to make people leave
	SevereToxicity                    // very hateful, aggressive or disrespectful; mild swearing does not count
	Insult                            // insulting or inflammatory towards a person or a group
	Profanity                         // swear words, curse words, obscene language
	IdentityAttack                    // negative or hateful towards people because of who they are
	Threat                            // an intention to inflict pain, injury or violence
	SexuallyExplicit                  // references to sexual acts or body parts in a lewd way
	attributeCount
)

// AttributeCount is the number of attributes.
const AttributeCount = int(attributeCount)

var attributeNames = [attributeCount]string{
	"toxicity", "severe_toxicity", "insult", "profanity", "identity_attack", "threat", "sexually_explicit",
}

// Attributes returns all attributes in their numeric order.
func Attributes() []Attribute {
	all := make([]Attribute, attributeCount)
	for i := range all {
		all[i] = Attribute(i)
	}
	return all
}

// ParseAttribute returns the attribute with the given snake_case name.
func ParseAttribute(name string) (Attribute, error) {
	for i, n := range attributeNames {
		if n == name {
			return Attribute(i), nil
		}
	}
	return 0, fmt.Errorf("unknown attribute %q: it must be one of %s", name, strings.Join(attributeNames[:], ", "))
}

// String returns the snake_case name.
func (a Attribute) String() string {
	if a < attributeCount {
		return attributeNames[a]
	}
	return fmt.Sprintf("Attribute(%d)", uint8(a))
}

// MarshalText implements [encoding.TextMarshaler]. It fails for a value that is not
// an attribute.
func (a Attribute) MarshalText() ([]byte, error) {
	if a >= attributeCount {
		return nil, fmt.Errorf("failed to encode attribute: %d is out of range", uint8(a))
	}
	return []byte(attributeNames[a]), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *Attribute) UnmarshalText(text []byte) error {
	parsed, err := ParseAttribute(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
