package org.revenantdb.engine.space;

import org.jspecify.annotations.NullMarked;

/** Gives the jcstress tests the cleaner's pass and visits with one page, without pages and log. */
@NullMarked
public final class OpenVisits {
  private static final int PAGE = 100;

  private final PageBitmap pass = new PageBitmap();
  private final PageVisits visits = new PageVisits((unit, page) -> givenBack = 1);
  private volatile int givenBack;

  /** One page has to be visited. */
  public OpenVisits() {
    pass.set(PAGE);
  }

  /** Takes the page from the pass, and is then on the way to it; 1 if the page was in the pass. */
  public int take() {
    if (visits.begin(PAGE)) {
      if (pass.clear(PAGE)) {
        return 1;
      }
      visits.end(PAGE);
    }
    return 0;
  }

  /** The broken order: takes the page first, and announces the visit afterwards. */
  public int takeSilently() {
    return pass.clear(PAGE) && visits.begin(PAGE) ? 1 : 0;
  }

  /** Frees the page, as a merge does; 1 if any thread can claim it now. */
  public int free() {
    pass.clear(PAGE);
    visits.free(Unit.NONE, PAGE);
    return givenBack;
  }
}
