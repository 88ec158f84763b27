package org.revenantdb.cli;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads a dump in one of its forms. */
interface DumpInput {
  /**
   * The next item.
   *
   * @return null at the end of a dump that is whole
   * @throws DumpException if it is not whole, or no dump
   */
  @Nullable DumpItem next() throws IOException;
}
