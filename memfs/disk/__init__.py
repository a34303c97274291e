"""The disk: work trees and their files, memfs's own folders and files, settings. Starts no process, asks no git."""
