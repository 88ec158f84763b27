package org.revenantdb.chaos.inject;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Code that allocates only in its static initializer, once it has run. */
public final class Modest implements Supplier<List<String>> {

  private static final List<String> NOTHING = List.of();
  private static final ByteBuffer BUFFER = ByteBuffer.allocate(8);
  private static final Key KEY = new Key(1, 2);

  /** Creates the code. */
  public Modest() {}

  private record Key(int first, int second) {}

  private sealed interface Shape permits Round, Square {}

  private record Round() implements Shape {}

  private record Square() implements Shape {}

  private static final Shape SHAPE = new Square();

  @Override
  public List<String> get() {
    Supplier<List<String>> nothing = () -> NOTHING;
    BUFFER.clear().put((byte) 1).putInt(KEY.hashCode());
    Boolean same = KEY.equals(KEY) && TimeUnit.SECONDS.hashCode() == 0;
    int corners =
        switch (SHAPE) {
          case Round _ -> 0;
          case Square _ -> 4;
        };
    return corners == 4 || same ? nothing.get() : List.of();
  }
}
