/**
 * How change feeds are recorded and read (§53). Reading order: {@code FeedRecord} (bytes), {@code
 * FeedState} (numbers of commits), {@code FeedMarks} (their ages), {@code Arrivals} (those who
 * wait).
 */
package org.revenantdb.collections.feed;
