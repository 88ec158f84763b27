package org.revenantdb.chaos.fault;

import org.revenantdb.chaos.trace.CallStack;

/**
 * An operation that is about to be carried out.
 *
 * @param kind which sort
 * @param path relative to the directory under test, with {@code /} between names; empty for the
 *     directory itself; of a rename the name to come; of a file that was renamed the name it has
 * @param offset in the file, 0 where there is none; of a truncation the new size
 * @param length in bytes, 0 where there is none
 * @param growth by how many bytes a file gets longer if the operation succeeds
 * @param number how many operations of whatever kind this recording saw before it
 * @param stack where in the program
 */
public record FileOperation(
    Kind kind, String path, long offset, int length, long growth, long number, CallStack stack) {

  /** Sorts of operations. */
  public enum Kind {
    /** A file or directory is opened; if that creates or cuts it, that is asked for next. */
    OPEN,
    /** Bytes are read. */
    READ,
    /** Bytes are written. */
    WRITE,
    /** A file is cut. */
    TRUNCATE,
    /**
     * A file's content or a directory's entries are forced. What a channel opened with {@code
     * DSYNC} forces after a write is part of that write.
     */
    FORCE,
    /** A file or directory is created, or gets another name by a link. */
    CREATE,
    /** An entry moves. */
    RENAME,
    /** An entry goes. */
    DELETE
  }
}
