# inspect
