package org.revenantdb.chaos.revenant.model;

import java.io.InputStream;

/** How to come by a store, and by values to put into it. */
public final class Stores {

  private Stores() {}

  /**
   * Makes an opener.
   *
   * @param className of a {@link Store.Opener}
   * @return the opener
   */
  public static Store.Opener opener(String className) {
    try {
      return Class.forName(className).asSubclass(Store.Opener.class).getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("cannot make a " + className, e);
    }
  }

  /**
   * A value whose every byte follows from its version.
   *
   * @param version a number
   * @param length in bytes
   * @return its bytes
   */
  public static InputStream value(long version, long length) {
    return Values.stream(version, length);
  }
}
