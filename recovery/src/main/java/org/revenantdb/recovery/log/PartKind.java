package org.revenantdb.recovery.log;

import org.jspecify.annotations.Nullable;

/** The effect of a part of a {@link RecordType#PAGES} record on its page. */
public enum PartKind {
  /** Changes the page. */
  CHANGE(0),
  /** Builds the page from nothing. */
  FORMAT(1),
  /** Frees the page. */
  FREE(2);

  private static final PartKind[] VALUES = values();

  private final int code;

  PartKind(int code) {
    this.code = code;
  }

  /**
   * The kind's byte in a part.
   *
   * @return the code
   */
  public int code() {
    return code;
  }

  /**
   * The kind of a code.
   *
   * @param code the byte in a part
   * @return the kind, or null if there is none
   */
  public static @Nullable PartKind of(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : null;
  }
}
