import org.jspecify.annotations.NullMarked;

/**
 * A latch of two words with optimistic, shared and exclusive modes, and the place where threads
 * wait for it.
 *
 * <p>If the flight recorder is part of the run-time image, it receives long waits. The module works
 * without it.
 */
@NullMarked
module org.revenantdb.latch {
  requires static jdk.jfr;
  requires static org.jspecify;

  exports org.revenantdb.latch;
}
