package screen

import (
	"errors"
	"fmt"
	"os"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/pii"
)

// PII selects what personal data is found. The zero value of each field is its default.
type PII struct {
	pii.Settings

	// NoNames finds no names of people, places and organisations, which needs no network.
	NoNames bool
}

// Finder is a [pii.Finder] with the network that it uses. It is safe for concurrent use;
// Close it when no call is in progress.
type Finder struct {
	*pii.Finder

	close func() error // closes the network
}

// OpenFinder opens the finder of personal data. Of the settings it uses PII, Library and Threads.
// The network of names runs on the CPU, and opens when the first text needs it.
func OpenFinder(s Settings) (*Finder, error) {
	opened := &Finder{close: func() error { return nil }}
	if s.PII.Names == nil && !s.PII.NoNames {
		names, err := models.OpenNames(models.Options{Library: s.Library, Threads: s.Threads})
		if err != nil {
			return nil, err
		}
		s.PII.Names, opened.close = names, names.Close
	}
	var err error
	if opened.Finder, err = pii.New(s.PII.Settings); err != nil {
		return nil, errors.Join(err, opened.close())
	}
	return opened, nil
}

// Close closes the network.
func (f *Finder) Close() error { return f.close() }

// ReadRecognizers reads a YAML file with recognizers and with texts that are not personal data, see
// [pii.ReadRecognizers]. The error names the file.
func ReadRecognizers(path string) (recognizers []pii.Recognizer, allow []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to read recognizers %s: %w", path, files.Cause(err))
	}
	if recognizers, allow, err = pii.ReadRecognizers(data); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return recognizers, allow, nil
}
