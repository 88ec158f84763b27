package org.revenantdb.chaos.fault;

import org.revenantdb.chaos.trace.CallStack;

/**
 * An operation that is about to be carried out.
 *
 * @param kind the kind of operation
 * @param path relative to the directory under test, with {@code /} between names; empty for the
 *     directory itself; for a rename the new name; for a file that was renamed its present name
 * @param offset in the file, 0 where there is none; of a truncation the new size
 * @param length in bytes, 0 where there is none
 * @param growth by how many bytes a file gets longer if the operation succeeds
 * @param number how many operations of any kind this recording saw before it
 * @param stack where in the program
 */
public record FileOperation(
    Kind kind, String path, long offset, int length, long growth, long number, CallStack stack) {

  /** Kinds of operations. */
  public enum Kind {
    /** A file or directory is opened. If that creates or cuts it, a second call follows. */
    OPEN,
    /** Bytes are read. */
    READ,
    /** Bytes are written. */
    WRITE,
    /** A file is cut. */
    TRUNCATE,
    /**
     * A file's content or a directory's entries are forced. The force that belongs to a write
     * through a channel with {@code DSYNC} is part of that write.
     */
    FORCE,
    /** A file or directory is created, or gets another name by a link. */
    CREATE,
    /** An entry moves. */
    RENAME,
    /** An entry is deleted. */
    DELETE
  }
}
