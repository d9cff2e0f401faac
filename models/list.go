package models

import "github.com/toxscreen/toxscreen"

// Listed is an [Entry] as `toxscreen model list --format json` shows it.
type Listed struct {
	Name       string                `json:"name"`   // for [Open]
	Folder     string                `json:"folder"` // empty for the embedded model
	Model      string                `json:"model,omitempty"`
	License    string                `json:"license,omitempty"`
	Attributes []toxscreen.Attribute `json:"attributes,omitempty"`
	Error      string                `json:"error,omitempty"` // why the manifest is unusable
}

// ListUser lists the embedded model and those in [UserDir].
func ListUser() ([]Listed, error) {
	dir, err := UserDir()
	if err != nil {
		return nil, err
	}
	entries, err := List(dir)
	if err != nil {
		return nil, err
	}
	listed := make([]Listed, len(entries))
	for i, e := range entries {
		listed[i] = Listed{Name: e.Name, Folder: e.Folder.Path}
		if e.Err != nil {
			listed[i].Error = e.Err.Error()
			continue
		}
		listed[i].Model, listed[i].License, listed[i].Attributes = e.Manifest.Identity(), e.Manifest.License, e.Manifest.Attributes()
	}
	return listed, nil
}
