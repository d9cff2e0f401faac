package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toxscreen/toxscreen/internal/config"
	"github.com/toxscreen/toxscreen/rows"
)

// Errors of package rows name options as users know them: each option has a flag, and each flag
// exists.
func TestOptionsOfRowsHaveFlags(t *testing.T) {
	var o rows.Options
	config.AddReadFlags(&cobra.Command{}, &o)
	flags := (&app{}).batchCommand().Flags()
	others := []string{"Stdin", "Stdout", "Progress", "OptionName"}
	for field := range reflect.TypeFor[rows.Options]().Fields() {
		if !field.IsExported() || slices.Contains(others, field.Name) {
			continue
		}
		name := o.OptionName(field.Name)
		if name == "--redo judge" {
			name = "--redo"
		}
		if len(name) < 3 {
			t.Errorf("%s has no flag", field.Name)
			continue
		}
		if flags.Lookup(name[2:]) == nil {
			t.Errorf("%s is %s, which batch does not have", field.Name, name)
		}
	}
}
