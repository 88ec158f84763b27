package org.revenantdb.recovery.file;

/** How a {@link StorageFile} is opened. */
public enum OpenMode {
  /** An existing file, to be read only. */
  READ,
  /** An existing file, to be read and written. */
  READ_WRITE,
  /** A file that must not exist yet, to be read and written. */
  CREATE_NEW
}
