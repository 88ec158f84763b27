package org.revenantdb.engine.starved;

import java.lang.reflect.Method;

/** Runs {@link StarvedRounds} with classes that {@link StarvingLoader} has changed. */
public final class StarvedMain {
  private StarvedMain() {}

  /** Arguments: those of {@link StarvedRounds}. */
  public static void main(String[] arguments) throws Exception {
    StarvingLoader loader = new StarvingLoader(StarvedMain.class.getClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    Method main =
        Class.forName(StarvedRounds.class.getName(), true, loader)
            .getMethod("main", String[].class);
    main.invoke(null, (Object) arguments);
  }
}
