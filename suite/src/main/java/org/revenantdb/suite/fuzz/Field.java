package org.revenantdb.suite.fuzz;

/**
 * A number in a page, header or record.
 *
 * @param name its name in reports
 * @param offset of its first byte
 * @param width in bytes: 1, 2, 4 or 8
 * @param kind its meaning, which determines other possible values
 */
record Field(String name, int offset, int width, Kind kind) {

  /** The meanings of numbers. */
  enum Kind {
    /** The id of a page. */
    PAGE,
    /** A place in a page. */
    OFFSET,
    /** How many, or how long. */
    COUNT,
    /** A place in the log. */
    LSN,
    /** A transaction. */
    TRANSACTION,
    /** A table. */
    TABLE,
    /** One of few values, or bits. */
    CODE,
    /** Anything. */
    NUMBER
  }
}
