package org.revenantdb.chaos.agent;

/**
 * What a native method for files does. Its arguments come as objects (the receiver first, if there
 * is one) and as numbers, each in their order.
 */
public enum FileCall {
  /** The method changes and forces nothing. */
  NOTHING,

  /** A {@code FileInputStream} and a path. */
  OPEN_INPUT,

  /** A {@code FileOutputStream} and a path; whether it appends. */
  OPEN_OUTPUT,

  /** A {@code RandomAccessFile} and a path; its mode. */
  OPEN_RANDOM,

  /** The address of a path, flags and mode. The result is a descriptor. */
  OPEN_PATH,

  /** The descriptor of a directory, the address of a path, flags and mode. */
  OPEN_PATH_AT,

  /** As CreateFile of Windows: address, access, sharing, security, disposition, flags. */
  OPEN_WINDOWS,

  /** A descriptor. The result is another one for the same file. */
  DUPLICATE,

  /** A {@code FileDescriptor}. */
  CLOSE_DESCRIPTOR,

  /** A descriptor or handle. */
  CLOSE_NUMBER,

  /** A descriptor and a handle, of which one counts. */
  CLOSE_NUMBER_OR_HANDLE,

  /** A stream or {@code RandomAccessFile}, and a byte. */
  WRITE_BYTE,

  /** A stream or {@code RandomAccessFile}, and bytes; from where, how many. */
  WRITE_BYTES,

  /** A {@code FileDescriptor}; address, length, on Windows whether it appends. */
  WRITE,

  /** A {@code FileDescriptor}; address, length, position. */
  WRITE_AT,

  /** A {@code FileDescriptor}; address of a vector, its length, on Windows whether it appends. */
  WRITE_VECTOR,

  /** A descriptor, an address and a length. */
  WRITE_NUMBER,

  /** A handle. The write happens some time. */
  WRITE_LATER,

  /** A {@code RandomAccessFile}; a length. */
  SET_LENGTH,

  /** A {@code FileDescriptor}; a length. */
  TRUNCATE,

  /** A handle: the file ends at its position. */
  TRUNCATE_HERE,

  /** A {@code FileDescriptor}. */
  FORCE_DESCRIPTOR,

  /** A {@code FileDescriptor}; whether metadata is forced, too. */
  FORCE,

  /** An address and a length. */
  FORCE_MEMORY,

  /** A {@code FileDescriptor}; protection, position, length. The result is an address. */
  MAP,

  /** An address and a length. */
  UNMAP,

  /** Two {@code FileDescriptor}s, source and target; position in the source, length. */
  TRANSFER_TO,

  /** Two {@code FileDescriptor}s, source and target; position in the target, length. */
  TRANSFER_FROM,

  /** The descriptors of target and source. All of the source is copied. */
  COPY_DESCRIPTORS,

  /** The addresses of the paths of source and target. The target is a new file. */
  CLONE_PATH,

  /** A file system and a path. */
  CREATE_FILE,

  /** A file system and a {@code File}. */
  CREATE_DIRECTORY,

  /** A file system and a {@code File}. */
  DELETE_FILE,

  /** A file system and two {@code File}s. */
  RENAME_FILE,

  /** The address of a path. */
  CREATE_DIRECTORY_PATH,

  /** The address of a path. */
  DELETE_PATH,

  /** The descriptor of a directory and the address of a path. */
  DELETE_PATH_AT,

  /** The addresses of two paths. */
  RENAME_PATHS,

  /** Twice the descriptor of a directory and the address of a path. */
  RENAME_PATHS_AT,

  /** The addresses of two paths: an existing one and a new one. */
  LINK_PATHS,

  /** The addresses of two paths: a new one and an existing one. */
  LINK_PATHS_WINDOWS,

  /** The addresses of two paths: what the link contains, and its own. */
  MAKE_SYMBOLIC_LINK,

  /** The addresses of two paths: its own, and what the link contains. */
  MAKE_SYMBOLIC_LINK_WINDOWS,

  /** The address of the path of something that is neither a file nor a directory. */
  MAKE_OTHER
}
