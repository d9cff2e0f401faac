package server

import (
	"net/http"
	"strings"
)

// notMeasuredHeader lists what a request asks about and nothing measured, in the words of
// its format: attributes or categories, and parts of the request like images. Formats with
// room for a field of ours have the same list there. It is absent where nothing is left
// out.
const notMeasuredHeader = "Toxscreen-Not-Measured"

// Own is what answers have beside the fields of the system whose format they are in, in
// the field toxscreen.
type Own struct {
	// NotMeasured names what the request asks about and nothing measured, in the words of
	// the format: categories, for which a format may want a number all the same, and
	// parts of the request, such as [Images].
	NotMeasured []string `json:"not_measured"`
}

// Images is the name of the images of a request in [Own].
const Images = "images"

// ShowNotMeasured sets the header that lists what a request asks about and nothing measured.
func ShowNotMeasured(header http.Header, names []string) {
	if len(names) > 0 {
		header.Set(notMeasuredHeader, strings.Join(names, ", "))
	}
}

// CheckImages refuses images, which nothing measures, unless the server passes over them.
// names are those of the parts of the request that are images.
func (c *Call) CheckImages(names []string) error {
	if len(names) == 0 || c.server.config.IgnoreImages {
		return nil
	}
	return Fail(Unsupported, "failed to read %s: images are not measured, only text is; leave it out, or let the server pass over images with its setting ignore_images", names[0])
}
