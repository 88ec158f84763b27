package org.revenantdb.engine.testing;

/** What a protocol does, to be cut off at each of its steps. */
public interface CrashScript {
  /** What was there before; nothing is cut off in it. */
  void setUp(Scene scene);

  /** The steps. */
  void run(Scene scene);
}
