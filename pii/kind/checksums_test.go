package kind

import "testing"

// The numbers are samples that the authorities publish, or computed ones. Each must fail
// with any one digit changed, which is what the checksums are for.
func TestChecksums(t *testing.T) {
	for name, c := range map[string]struct {
		check func(string) bool
		ids   []string
	}{
		"vin":   {vin, []string{"1M8GDM9AXKP042788", "11111111111111111"}},
		"mod97": {func(id string) bool { return mod97(id[4:]+id[:4]) == 1 }, []string{"GB82WEST12345698765432", "DE89370400440532013000"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, id := range c.ids {
				if !c.check(id) {
					t.Errorf("%s fails", id)
				}
				for i := range len(id) {
					if id[i] < '0' || id[i] > '9' {
						continue
					}
					if changed := id[:i] + string('0'+(id[i]-'0'+1)%10) + id[i+1:]; c.check(changed) {
						t.Errorf("%s passes like %s", changed, id)
					}
				}
			}
		})
	}
}
